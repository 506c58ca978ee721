import OAuthSandbox
import SQBasics
import SequencingOAuth

/// The visits of a simulated user to a sandbox, in this or another process.
extension EmbeddedSandbox {
  /// Creates a user agent that acts as the user without a browser.
  ///
  /// It requests a redirect to a loopback address itself, and calls `pass` with any other redirect.
  /// A visit that ends on a page of the sandbox fails with the text of that page.
  static func visitor(
    as user: SandboxUser = .alice, pass: @escaping @Sendable (String) -> Void = { _ in }
  ) -> any UserAgent {
    CustomUserAgent { url in
      let redirect: String
      do throws(SandboxError) {
        redirect = try await SandboxVisitor(user: user).visit(url).redirect
      } catch {
        try Task.checkCancellation()
        throw refusal(of: user, error)
      }
      try Task.checkCancellation()
      if !redirect.hasPrefix("http:") { pass(redirect) }
    }
  }

  /// Enters a code like a user on another device.
  static func enterCode(
    of authorization: DeviceAuthorization, as user: SandboxUser
  ) async throws(Failure) {
    do throws(SandboxError) {
      try await SandboxVisitor(user: user).enterCode(
        authorization.userCode, at: authorization.verificationURI)
    } catch {
      throw Failure(refusal(of: user, error))
    }
  }

  private static func refusal(of user: SandboxUser, _ error: SandboxError) -> SQOAuthError {
    var text = error.description
    if case .endedOnPage("Sign in", _) = error {
      text +=
        "; the visitor is \(user.name), and \(Option.browser.name) sandbox=NAME:PASSWORD plays another "
        + "user"
    }
    return SQOAuthError(.signInRefused, text.onScreen, cause: error)
  }

  /// Returns whether an address is on this machine; only there may the sandbox's password be sent.
  static func canBeVisited(_ address: String) -> Bool { LoopbackURL(address) != nil }
}
