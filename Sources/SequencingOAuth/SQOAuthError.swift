public import SQBasics
public import SQFoundation

/// An error of the SDK: a code that programs can compare, and a message for developers.
///
/// No text of the error contains a token, an authorization code, a verifier, a secret or a
/// password. The texts do not include ``cause`` (the error that led to this one) or
/// ``resourceResponse``, because these may contain a secret.
public struct SQOAuthError: Error, Sendable {
  private struct Values: Sendable {
    let code: Code
    var message: String
    let cause: (any Error)?
    let response: ErrorResponse?
    var status: Int?
    var challenge: TokenChallenge?
    var answer: Boxed<WebResponse>?
    let retryAfter: Duration?
    var occasion: Occasion?
    var refusedUse: RefusedUse?
    var owner: RequestOwner?
  }

  /// The error's values on the heap.
  ///
  /// Each account and each waiting task has a variable for an error, which is usually `nil`. A
  /// single reference keeps that variable small.
  private var values: Boxed<Values>

  /// The kind of failure.
  public var code: Code { values.value.code }
  /// A description of the problem and, if there is one, of its remedy.
  public internal(set) var message: String {
    get { values.value.message }
    set { values.value.message = newValue }
  }
  /// The error that led to this one, if there is one.
  public var cause: (any Error)? { values.value.cause }
  /// The server's own error response, if one came.
  public var response: ErrorResponse? { values.value.response }
  /// The HTTP status of the response that led to this error, if one came.
  public internal(set) var status: Int? {
    get { values.value.status }
    set { values.value.status = newValue }
  }
  /// The resource server's reason for refusing the token, if it gave one.
  public internal(set) var challenge: TokenChallenge? {
    get { values.value.challenge }
    set { values.value.challenge = newValue }
  }
  /// The whole response of a resource server that refused the token.
  ///
  /// An error of ``AccountOperations/send(_:)`` has it if ``status`` and ``challenge`` come from
  /// such a response: a 401, or a 403 that asks for more scope. Its content is cut off at
  /// ``maximumContentBytes``. If the request's destination is a stream, the content went there and
  /// is empty here. No text of this error contains the response, because a server may repeat the
  /// token in it.
  public var resourceResponse: WebResponse? { values.value.answer?.value }
  /// How long to wait before the next request, if the server said so; at most a day.
  ///
  /// - SeeAlso: RFC 9110, section 10.2.3
  public var retryAfter: Duration? { values.value.retryAfter }
  /// The kind of request that failed, if it changes the meaning of the server's code.
  var occasion: Occasion? {
    get { values.value.occasion }
    set { values.value.occasion = newValue }
  }
  /// The token and the operation that a resource server refused, if one did.
  var refusedUse: RefusedUse? {
    get { values.value.refusedUse }
    set { values.value.refusedUse = newValue }
  }
  /// The owner of the request that failed; `nil` if the error is not about a request with a token.
  var owner: RequestOwner? {
    get { values.value.owner }
    set { values.value.owner = newValue }
  }

  /// Creates an error; the message must contain no secret.
  ///
  /// Control characters and other invisible characters are removed from the message, because a
  /// server may have chosen them, and a terminal or a log could interpret them.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, response: ErrorResponse? = nil,
    status: Int? = nil, challenge: TokenChallenge? = nil, retryAfter: Duration? = nil
  ) {
    values = Boxed(
      Values(
        code: code, message: message.printable(atMost: .max), cause: cause, response: response,
        status: status, challenge: challenge, retryAfter: retryAfter))
  }

  /// The largest size of the content of ``resourceResponse``, in bytes: 64 KiB.
  public static let maximumContentBytes = 64 * 1024

  /// Returns this error with the response that caused it.
  func carrying(_ response: WebResponse) -> SQOAuthError {
    var response = response
    response.body = response.body.cut(at: Self.maximumContentBytes)
    var error = self
    error.values.value.answer = Boxed(response)
    return error
  }
}

extension Data {
  /// Returns at most the first `count` bytes, without keeping the memory of the others.
  package func cut(at count: Int) -> Data {
    // A slice would keep the memory of all bytes.
    self.count > count ? Data(prefix(count)) : self
  }
}

extension SQOAuthError: LocalizedError {
  /// The error's ``message``, for `localizedDescription`.
  public var errorDescription: String? { message }
}

extension SQOAuthError {
  /// A kind of request for which some error codes have a special meaning.
  enum Occasion: Sendable, Hashable {
    /// An authorization request in which the server may have shown its pages to the user.
    case pages
    /// A refresh of a token (RFC 6749, section 6).
    case refresh
  }

  /// The name of a kind of failure, spelled as in the protocol if the server sent it.
  ///
  /// The set is open: a server may send any code, and a later version of the SDK may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code's text, such as `invalid_grant`.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The code's text, such as `invalid_grant`.
    public var description: String { rawValue }
  }
}

extension SQOAuthError: Redacted {
  /// The code and the message in one line: `code: message`.
  public var description: String { "\(code): \(message)" }

  /// The parts for debug output; the cause appears only as its type, because its text may contain a
  /// secret.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "code": code.rawValue, "message": message,
      "cause": cause.map { String(describing: type(of: $0)) } ?? "none",
    ]
  }
}
