// Runs the smoke test inside workerd: `workerd test` calls test().
import { smoke } from "../smoke.js";

export default {
  async test() {
    for (const name of await smoke()) console.log(`ok: ${name}`);
  },
};
