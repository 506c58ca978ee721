// The details of an event's subject.
extension ClientEvent {
  /// How an account gets its first token.
  public enum SignInWay: Sendable, Hashable {
    /// The authorization code grant, with a browser; a silent sign-in asks the user nothing
    /// (`prompt=none`).
    case browser(isSilent: Bool)
    /// The authorization code grant of a web application, from the redirect on.
    case webApplication
    /// The device authorization grant, with a code on another device.
    case otherDevice
    /// A grant without a browser.
    ///
    /// The value is the grant's type, such as `client_credentials`.
    case grant(String)
  }

  /// A request to a server.
  public struct Request: Sendable, Hashable {
    /// What the request is for.
    public enum Purpose: Sendable, Hashable {
      /// The metadata of an authorization server (RFC 8414).
      case serverMetadata
      /// The metadata of a resource server (RFC 9728).
      case resourceMetadata
      /// The public keys of an authorization server (RFC 7517).
      case keys
      /// The registration of a client, or a change of it (RFC 7591, RFC 7592).
      case registration
      /// The parameters of an authorization request (RFC 9126).
      case pushedAuthorization
      /// A code for another device (RFC 8628).
      case deviceAuthorization
      /// A token.
      ///
      /// The value is the grant's type, such as `refresh_token`.
      case token(String)
      /// The user's claims (OpenID Connect Core 1.0, section 5.3).
      case userInfo
      /// The revocation of a token (RFC 7009).
      case revocation
      /// The check of a token by its server (RFC 7662).
      case introspection
      /// A request for a protected resource.
      case resource
    }

    /// What the request is for.
    public let purpose: Purpose
    /// The HTTP method.
    public let method: String
    /// The server, as `https://host:port` or `http://host:port`.
    public let server: String
    /// The number of the attempt to send the request, starting at 1.
    ///
    /// A server may refuse a token or ask for a nonce; the request is then sent again.
    public let attempt: Int
    /// The remaining lifetime of the access token in the request; `nil` if the request has no
    /// token, or if the token's end is unknown.
    public let tokenLife: Duration?
    /// The status of the response, set at the end of the request; `nil` if there was no response.
    public internal(set) var status: Int?
    /// The pause that the response asks for, set at the end of the request.
    public internal(set) var retryAfter: Duration?
  }

  /// Why a session gets a new token, and the result.
  public struct Refresh: Sendable, Hashable {
    /// Why a session needs a new token.
    public enum Reason: Sendable, Hashable {
      /// The session's timer fired, shortly before the token expires.
      case timer
      /// A caller found the token expired.
      case caller
      /// A server refused the token.
      case refusal
      /// The app asked for a refresh.
      case app
      /// An `AccountKeeper` keeps the account valid.
      case keeper
      /// A caller needs a token with a part of the account's rights.
      case narrowing
    }

    /// How a refresh ended.
    public enum Result: Sendable, Hashable {
      /// This process got a new token.
      case refreshed
      /// Another process had already got a new token, and this process took it over.
      case takenOver
      /// The refresh failed, or a sign-in or the end of the session came first.
      ///
      /// A refresh for ``ClientEvent/Refresh/Reason/narrowing`` always has this result, because it
      /// gets no token for the account itself.
      case none
    }

    /// Why the token is needed.
    public let reason: Reason
    /// The number of callers that waited for the account's token, set at the end; not counting the
    /// timer, a keeper or callers that need a narrowed token.
    public internal(set) var callers: Int?
    /// How the refresh ended, set at the end.
    public internal(set) var result: Result?
  }

  /// A call of the token store.
  public enum StoreCall: String, Sendable, Hashable {
    /// The record of an account is read.
    case load
    /// Space for the next record is reserved.
    case reserve
    /// A record is saved.
    case save
    /// A record is erased.
    case erase
  }

  /// Why a redirect was refused.
  public enum RedirectRefusal: String, Sendable, Hashable {
    /// The redirect is for a different redirect URI.
    case foreignAddress
    /// The redirect has no `state` or a wrong one, or it cannot be read.
    case wrongState
    /// The sign-in already got a different response, or has ended without one.
    case tooLate
  }

  /// Why a session ended.
  public enum End: String, Sendable, Hashable {
    /// The app signed the user out, or another process that shares the store did.
    case signedOut
    /// The app revoked the tokens.
    case revoked
    /// The user logged out at the provider.
    case loggedOut
    /// The authorization server refused the refresh token, or its response to a refresh is about
    /// another issuer or user.
    case refused
  }
}
