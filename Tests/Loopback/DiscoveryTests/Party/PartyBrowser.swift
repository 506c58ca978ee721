import Foundation
import SQBasics
import SequencingOAuth
import TestSupport

/// A browser whose user agrees to everything: it asks for the page and follows its redirect.
final class PartyBrowser: UserAgent {
  private let state = Locked<(opened: [URL], isRefusing: Bool)>(([], false))
  let gate = Gate()

  /// The addresses that the browser opened, in order.
  var opened: [URL] { state.withLock(\.opened) }

  /// Sets whether the user refuses each sign-in from now on by closing the window.
  func refuse(_ isRefusing: Bool = true) { state.withLock { $0.isRefusing = isRefusing } }

  func open(_ url: URL) async throws {
    let refuses = state.withLock { state in
      state.opened.append(url)
      return state.isRefusing
    }
    await gate.pass()
    guard !refuses else { throw SQOAuthError(.cancelled, "the user closed the window") }
    let page = try await CurlTransport.shared.send(WebRequest(url: url))
    guard page.status == 302, let location = page.headers["Location"] else {
      throw SQOAuthError(
        .signInRefused, "the page says: \(String(decoding: page.body, as: UTF8.self))")
    }
    let landing = try await CurlTransport.shared.send(WebRequest(url: location))
    guard landing.status < 400 else {
      throw SQOAuthError(.signInRefused, "the redirect got status \(landing.status)")
    }
  }
}
