// Addresses of stores as errors may show them: without user, password and parameters.

/** The usual reason why an address cannot be read, as a sentence. */
export const encodeHint: string = "Encode special characters in user and password with encodeURIComponent().";

/** Host and path of an address. Everything up to the last "@" counts as credentials: an unencoded password may contain any character. */
export function placeOf(url: string): string {
  const rest = url.slice(schemeOf(url).length);
  return rest.slice(rest.lastIndexOf("@") + 1).replace(/[?#].*$/s, "");
}

/** The address with its credentials and parameters masked. */
export function maskAddress(url: string): string {
  const [scheme, place] = [schemeOf(url), placeOf(url)];
  const credentials = url.slice(scheme.length).includes("@") ? "***@" : "";
  const parameters = url.endsWith(place) ? "" : "?***";
  return `${scheme}${credentials}${place}${parameters}`;
}

function schemeOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:(?:\/\/)?/i.exec(url)?.[0] ?? "";
}
