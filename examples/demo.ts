// The demonstration behind `npm start`: says which Offstage runs on which Node.
import { version } from "offstage";

console.log(`Offstage ${version} on Node ${process.version}.`);
