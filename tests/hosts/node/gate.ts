// The network as the guest gets it: one origin, with a credential that the guest never sees.
import { outgoingHandler, types } from "@bytecodealliance/preview2-shim/http";
import type { FutureIncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions, Scheme } from "#guest/wasi-http-types";
import { allows, credential, type Permission } from "./permission.ts";

// The guest's own types have only what the guest calls.
type Fields = InstanceType<typeof types.Fields>;

/** Returns the `wasi:http` interfaces for a guest that may do what the permission says; without one, nothing leaves. */
export function gate(permission: Permission | undefined) {
  const real = new WeakMap<Request, OutgoingRequest>();

  // The headers of the shim's request are fixed when it is made, and its body belongs to it. So this one only notes what
  // the guest sets, and makes the shim's when the guest asks for the body: by then all must be set.
  class Request {
    private readonly headers_: Fields;
    private method_: Method = { tag: "get" };
    private scheme_: Scheme | undefined;
    private authority_: string | undefined;
    private path_: string | undefined;

    constructor(headers: Fields) {
      this.headers_ = headers;
    }

    setMethod(method: Method): void {
      this.unmade().method_ = method;
    }

    setScheme(scheme: Scheme | undefined): void {
      this.unmade().scheme_ = scheme;
    }

    setAuthority(authority: string | undefined): void {
      this.unmade().authority_ = authority;
    }

    setPathWithQuery(path: string | undefined): void {
      this.unmade().path_ = path;
    }

    body(): OutgoingBody {
      const headers = this.headers_.clone();
      // A guest may set none: what it could know would not be secret.
      headers.delete("authorization");
      const authorization = this.allowed() && permission ? credential(permission, this.path_ ?? "/") : undefined;
      if (authorization !== undefined) headers.set("authorization", [new TextEncoder().encode(authorization)]);
      const request = new types.OutgoingRequest(headers);
      request.setMethod(this.method_);
      request.setScheme(this.scheme_);
      request.setAuthority(this.authority_);
      request.setPathWithQuery(this.path_);
      this.unmade();
      real.set(this, request);
      return request.body();
    }

    allowed(): boolean {
      return permission !== undefined && allows(permission, this.scheme_?.tag ?? "", this.authority_ ?? "");
    }

    /** `undefined` is the error of the setters. */
    private unmade(): this {
      if (real.has(this)) throw undefined;
      return this;
    }
  }

  return {
    types: { ...types, OutgoingRequest: Request },
    outgoingHandler: {
      handle(request: Request, options: RequestOptions | undefined): FutureIncomingResponse {
        if (!request.allowed()) throw { tag: "HTTP-request-denied" };
        if (!real.has(request)) request.body();
        return outgoingHandler.handle(real.get(request), options);
      },
    },
  };
}
