import SQBasics
import SQLoopback

/// A request that arrived at the redirect's port but did not reach the sign-in.
///
/// It may be the browser's redirect, sent in a different way than the redirect URI specifies. The
/// sign-in's error then mentions it, because the user sees only that nothing happens.
enum RefusedRequest: Sendable, Hashable {
  /// The request was for a different path.
  case path(String, expected: String)
  /// The request was for a different host or port.
  case host(String, expected: String)
  /// The request was a POST, but the sign-in's response mode does not post a form.
  case post
  /// The request was a POST without a form.
  case noForm
  case tls
  /// The request was larger than the receiver allows; the status tells which part was too large.
  case tooLarge(status: Int)

  /// Interprets the HTTP server's refusal of https or of a request that is too large; `nil` for any
  /// other refusal.
  init?(_ refusal: LoopbackRefusal) {
    switch refusal.status {
    case _ where refusal.isTLS: self = .tls
    case 413, 414, 431: self = .tooLarge(status: refusal.status)
    default: return nil
    }
  }

  /// What was wrong with the request, and a remedy, for the error of a sign-in without a response.
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
        + "instead of 303, or it always posts its answers; in that case, set responseMode"
    case .noForm:
      "the browser posted something that is not a form, so it was refused"
    case .tls:
      "a browser spoke https at the port of the redirect URI, where the SDK speaks http: register "
        + "the redirect URI with http, and with 127.0.0.1 if the browser changes \"localhost\" to https"
    case .tooLarge(let status):
      "the browser's request was too large (status \(status)), probably because of cookies of "
        + "other programs on this machine: use a private window, or delete that address's cookies"
    }
  }
}

/// The last refused request that may have carried the response to the sign-in.
final class LastRefused: Sendable {
  private let value = Locked<RefusedRequest?>(nil)

  var current: RefusedRequest? { value.withLock(\.self) }

  func note(_ request: RefusedRequest) {
    value.withLock { $0 = request }
  }
}

extension LoopbackRequest {
  /// Whether a request seems to contain the response to a sign-in, unlike a request for an icon.
  var isLikeAnswer: Bool {
    method == "POST"
      || FormCoding.mend(query ?? "").contains {
        ["code", "error", "state"].contains($0.name)
      }
  }
}
