public import SQBasics
public import SQFoundation

/// A running sign-in whose page a ``UserAgent`` opens.
///
/// It identifies the account, the client and the redirect URI. A logout at the provider, by
/// ``AccountOperations/endSession(revokesTokens:logoutHint:uiLocales:)``, opens a page in the
/// same way.
///
/// After the sign-in has ended, the value does no harm: a late redirect, or a redirect of another
/// sign-in, has no effect. The value references neither the account's module nor objects of the
/// app, so a user agent may keep it.
public struct PendingSignIn: Sendable {
  /// The account that the user signs in to; see ``AuthorizationModule/accountID``.
  public let accountID: String
  /// The client for which the user signs in.
  public let clientID: String
  /// The issuer of the authorization server; `nil` if neither the configuration nor the metadata
  /// names it.
  public let issuer: String?
  /// The URI to which the server redirects, with the port that the SDK listens on.
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

  /// Passes on the text of the URL to which the server redirected the browser.
  ///
  /// It may be called on any thread, and returns immediately. The result is `true` if the URL is
  /// the response to this sign-in, even if the same URL was passed on before. The result is `false`
  /// if the URL has no effect: it belongs to another sign-in, or this sign-in already got a
  /// different response.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on the URL to which the server redirected the browser.
  ///
  /// It may be called on any thread, and returns immediately. The result is `true` if the URL is
  /// the response to this sign-in, even if the same URL was passed on before. The result is `false`
  /// if the URL has no effect: it belongs to another sign-in, or this sign-in already got a
  /// different response.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    handleRedirect(redirect.absoluteString)
  }

  /// Passes on the text of the URL to which the server redirected the browser, and returns what
  /// happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect. The outcome is never ``RedirectOutcome/noSignIn``.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    RedirectOutcome(offer(redirect))
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
