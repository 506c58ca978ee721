import OAuthSandbox
import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Visits to a sandbox, here or in another process, by a program that plays the user.
extension EmbeddedSandbox {
  /// Creates a user agent that plays the user without a browser.
  ///
  /// It requests a redirect on a loopback address itself, and calls `pass` with any other redirect.
  /// A visit that ends on a page of the sandbox fails with the text of that page.
  static func visitor(pass: @escaping @Sendable (String) -> Void = { _ in }) -> any UserAgent {
    CustomUserAgent { url in
      let redirect: String
      do throws(SandboxError) {
        redirect = try await SandboxVisitor().visit(url).redirect
      } catch {
        try Task.checkCancellation()
        throw SQOAuthError(.signInRefused, error.description.onScreen, cause: error)
      }
      try Task.checkCancellation()
      if !redirect.hasPrefix("http:") { pass(redirect) }
    }
  }

  /// Plays the user who enters a code on another device.
  static func enterCode(of authorization: DeviceAuthorization) async throws(Failure) {
    do throws(SandboxError) {
      try await SandboxVisitor().enterCode(
        authorization.userCode, at: authorization.verificationURI)
    } catch {
      throw Failure(SQOAuthError(.signInRefused, error.description.onScreen, cause: error))
    }
  }

  /// Whether an address is on this machine: only there may the visitor type the sandbox's password.
  static func canBeVisited(_ address: String) -> Bool {
    guard let url = URL(string: address), url.scheme == "http", let host = url.host() else {
      return false
    }
    return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host.lowercased())
  }
}
