import SQBasics
import SQLoopback

/// A request that came to the redirect's port and did not reach the sign-in.
///
/// It may be the browser's redirect, sent in another way than the redirect URI says. The sign-in's
/// error names it then, since the user sees only that nothing happens.
enum RefusedRequest: Sendable, Hashable {
  /// It asked for another path.
  case path(String, expected: String)
  /// It named another host or port.
  case host(String, expected: String)
  /// It was a POST, for which the sign-in did not ask.
  case post
  /// It was a POST without a form.
  case noForm
  case tls
  /// It was larger than the receiver takes; the status says in which way.
  case tooLarge(status: Int)

  /// Reads the refusal of the server below; `nil` if it says nothing about a browser.
  init?(_ refusal: LoopbackRefusal) {
    switch refusal.status {
    case _ where refusal.isTLS: self = .tls
    case 413, 414, 431: self = .tooLarge(status: refusal.status)
    default: return nil
    }
  }

  /// What came, and what to do, for the message of a sign-in that got no answer.
  var explanation: String {
    switch self {
    case .path(let path, let expected):
      "the browser came to \"\(path.printable(atMost: 100))\" instead of \"\(expected.printable)\", so its answer "
        + "was refused: give the client the redirect URI that is registered, byte for byte"
    case .host(let host, let expected):
      "the browser came to \"\(host.printable(atMost: 100))\" instead of \"\(expected.printable)\", so its answer "
        + "was refused: give the client the redirect URI that is registered, with its host and port"
    case .post:
      "the browser came with POST, so its answer was refused: the server redirected with status 307 "
        + "instead of 303, or it posts its answers, for which a sign-in asks by responseMode"
    case .noForm:
      "the browser posted something that is no form, so it was refused"
    case .tls:
      "a browser spoke https at the port of the redirect URI, where the SDK speaks http: register "
        + "the redirect URI with http, and with 127.0.0.1 if the browser changes \"localhost\" to https"
    case .tooLarge(let status):
      "the browser's request was too large (status \(status)), which cookies of other programs on "
        + "this machine cause: sign in in a private window, or delete the cookies of that address"
    }
  }
}

/// The last request that a receiver refused and that may have been the browser's answer.
final class LastRefused: Sendable {
  private let value = Locked<RefusedRequest?>(nil)

  var current: RefusedRequest? { value.withLock(\.self) }

  func note(_ request: RefusedRequest) {
    value.withLock { $0 = request }
  }
}

extension LoopbackRequest {
  /// Whether a request seems to carry the answer to a sign-in, unlike one for a page's icon.
  var isLikeAnswer: Bool {
    method == "POST"
      || FormCoding.mend(query ?? "").contains {
        ["code", "error", "state"].contains($0.name)
      }
  }
}
