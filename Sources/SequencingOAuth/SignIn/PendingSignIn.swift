public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The sign-in for which a ``UserAgent`` opens a page: its account, its client and its redirect
/// URI.
///
/// A logout at the provider, by
/// ``AuthorizationModule/endSession(revokesTokens:logoutHint:uiLocales:)``, opens a page in the
/// same way.
///
/// The value stays harmless when the sign-in is over: a redirect of another sign-in, or a late one,
/// has no effect. It holds neither the account's module nor objects of the app, so a user agent may
/// keep it.
public struct PendingSignIn: Sendable {
  /// The account that the user signs in to, as in ``AuthorizationModule/accountID``.
  public let accountID: String
  /// The client for which the user signs in.
  public let clientID: String
  /// The issuer of the authorization server; `nil` if neither configuration nor metadata names one.
  public let issuer: String?
  /// The address to which the server redirects, with the port that the SDK listens on.
  ///
  /// It is empty for a logout after which the user stays on the provider's page.
  public let redirectURI: String
  private let offer: @Sendable (String) -> PendingAuthorization.OfferResult

  init(
    accountID: String, clientID: String, issuer: String?, redirectURI: String,
    offer: @escaping @Sendable (String) -> PendingAuthorization.OfferResult
  ) {
    self.accountID = accountID
    self.clientID = clientID
    self.issuer = issuer
    self.redirectURI = redirectURI
    self.offer = offer
  }

  init(_ pending: PendingAuthorization, clientID: String, accountID: String) {
    self.init(
      accountID: accountID, clientID: clientID, issuer: pending.expectation.issuer,
      redirectURI: pending.expectation.redirectURI, offer: pending.offer)
  }

  /// Passes on the text of the URL to which the server redirected.
  ///
  /// Any thread may call it; it returns at once. `true` means that the URL was the answer to this
  /// sign-in, also if it comes again. `false` means that it had no effect: it answers another
  /// sign-in, or this one already had another answer.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    offer(redirect).isAnswer
  }

  /// Passes on the URL to which the server redirected.
  ///
  /// Any thread may call it; it returns at once. `true` means that the URL was the answer to this
  /// sign-in, also if it comes again. `false` means that it had no effect: it answers another
  /// sign-in, or this one already had another answer.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    handleRedirect(redirect.absoluteString)
  }
}

extension PendingSignIn: Redacted {
  /// The account and the client of the sign-in, without its `state`.
  public var description: String { "sign-in of \(accountID) for \(clientID)" }

  package var shownParts: KeyValuePairs<String, Any> {
    [
      "accountID": accountID, "clientID": clientID, "issuer": issuer ?? "none",
      "redirectURI": redirectURI,
    ]
  }
}
