// What may leave: one origin, with a credential that the guest never sees.

/** Where requests may go. Without a key nothing is added. */
export interface Permission {
  /** `scheme://host[:port]`, lower case, without a default port. */
  origin: string;
  /** The key goes to addresses under this path, and nowhere else. */
  path: string;
  key: string | undefined;
}

export function allows(permission: Permission, scheme: string, authority: string): boolean {
  return `${scheme}://${authority}`.toLowerCase() === permission.origin;
}

/** Returns the value of the header `authorization` for a request to that path, if it gets one. */
export function credential(permission: Permission, path: string): string | undefined {
  const folder = permission.path.replace(/\/+$/, "");
  const under = path === folder || path.startsWith(`${folder}/`);
  // An encoded or dotted path could leave the folder where the server reads it.
  const odd = /%|\/\.\.?(\/|$)/.test(path);
  return permission.key !== undefined && under && !odd ? `Bearer ${permission.key}` : undefined;
}
