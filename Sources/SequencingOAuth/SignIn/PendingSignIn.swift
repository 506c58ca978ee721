public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A sign-in that a ``UserAgent`` shows: whose it is, and where its redirect goes.
///
/// It belongs to one sign-in and stays harmless when that is over: a redirect of another sign-in,
/// or a late one, has no effect. It holds neither the account's module nor the app's objects, so a
/// user agent may keep it.
public struct PendingSignIn: Sendable {
  /// The account that the user signs in to: ``AuthorizationModule/accountID``.
  public let accountID: String
  /// The client for which the user signs in.
  public let clientID: String
  /// The issuer of the authorization server, where the configuration or its metadata names one.
  public let issuer: String?
  /// The address that the server redirects to, with the port that the SDK listens on.
  public let redirectURI: String
  private let pending: PendingAuthorization

  init(_ pending: PendingAuthorization, _ endpoint: TokenEndpoint, accountID: String) {
    self.accountID = accountID
    clientID = endpoint.configuration.clientID
    issuer = pending.expectation.issuer
    redirectURI = pending.expectation.redirectURI
    self.pending = pending
  }

  /// Passes on the text of the URL that the server redirected to.
  ///
  /// From any thread, at once. Returns `true` if it was the answer to this sign-in. With `false` it
  /// has no effect: it answers another sign-in, or this one was answered before.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    pending.offer(redirect) == .taken
  }

  /// Passes on the URL that the server redirected to.
  ///
  /// From any thread, at once. Returns `true` if it was the answer to this sign-in. With `false` it
  /// has no effect: it answers another sign-in, or this one was answered before.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    handleRedirect(redirect.absoluteString)
  }
}

extension PendingSignIn: Redacted {
  /// The account and the client, without the `state`.
  public var description: String { "sign-in of \(accountID) for \(clientID)" }

  package var shownParts: KeyValuePairs<String, Any> {
    [
      "accountID": accountID, "clientID": clientID, "issuer": issuer ?? "none",
      "redirectURI": redirectURI,
    ]
  }
}
