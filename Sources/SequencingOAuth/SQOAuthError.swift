public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What went wrong, as a code that a program can compare and a sentence that a developer can use.
///
/// Neither the error nor any text made from it holds a token, a code, a verifier, a secret or a
/// password. ``cause`` is the error below this one and is never printed by it.
public struct SQOAuthError: Error, Sendable {
  /// Which kind of failure this is.
  public let code: Code
  /// What happened and, where something can be done about it, what to do.
  public internal(set) var message: String
  /// The error that led to this one.
  public let cause: (any Error)?
  /// The server's own error response, where one came.
  public let response: ErrorResponse?
  /// The HTTP status of the response that led to this error, where one came.
  public internal(set) var status: Int?
  /// Why a resource server refused the token, where it said so.
  public let challenge: BearerChallenge?
  /// The answer of a resource server that refused the token, as it came.
  ///
  /// It is there where ``status`` and ``challenge`` come from such an answer: a 401, or a 403 that
  /// asks for more scope. Its content is cut at ``maximumContentBytes``, and empty when the request's
  /// destination is a stream, which has got it. Nothing of it is in any text of this error, since a
  /// server may repeat what it was sent.
  public var resourceResponse: HTTPResponse? { answer?.value }
  private var answer: Boxed<HTTPResponse>?
  /// How long the server asks to be left alone, where it said so: at most a day.
  ///
  /// - SeeAlso: RFC 9110, section 10.2.3
  public let retryAfter: Duration?
  /// What the server's error response answers, where that gives its code another meaning.
  var occasion: Occasion?

  /// Makes an error; a message must hold no secret.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, response: ErrorResponse? = nil,
    status: Int? = nil, challenge: BearerChallenge? = nil, retryAfter: Duration? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.response = response
    self.status = status
    self.challenge = challenge
    self.retryAfter = retryAfter
  }

  /// The most of a ``resourceResponse``'s content that is kept: 64 KiB.
  public static let maximumContentBytes = 64 * 1024

  /// This error with the answer that it comes from.
  func carrying(_ response: HTTPResponse) -> SQOAuthError {
    var response = response
    response.body = response.body.cut(at: Self.maximumContentBytes)
    var error = self
    error.answer = Boxed(response)
    return error
  }
}

extension Data {
  /// No more than so many bytes, without the memory of the others.
  func cut(at count: Int) -> Data {
    // A slice would keep all of it.
    self.count > count ? Data(prefix(count)) : self
  }
}

extension SQOAuthError: LocalizedError {
  /// ``message``, which is what `localizedDescription` says.
  public var errorDescription: String? { message }
}

extension SQOAuthError {
  /// A request whose refusal means something else than the same code in answer to other requests.
  enum Occasion: Sendable, Hashable {
    /// An authorization request for which the server may have shown the user its pages.
    case pages
    /// A refresh (RFC 6749, section 6).
    case refresh
  }

  /// A failure's name, in the spelling of the wire where the failure came over it.
  ///
  /// The set is open: a server may send any code, and a later version of the SDK may add its own.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as it is written: `invalid_grant`.
    public let rawValue: String

    /// Wraps a code as it is written.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The code as it is written.
    public var description: String { rawValue }
  }
}

extension SQOAuthError: Redacted {
  /// `code: message`, in one line.
  public var description: String { "\(code): \(message)" }

  /// The cause by its type only: its text may hold a secret.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "code": code.rawValue, "message": message,
      "cause": cause.map { String(describing: type(of: $0)) } ?? "none",
    ]
  }
}
