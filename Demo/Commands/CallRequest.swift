import SQFoundation
import SequencingOAuth

/// The request that `call` sends, read from the command line.
struct CallRequest: Sendable {
  /// The maximum size of standard input and of an answer, in bytes.
  private static let limit = WebRequestBody.mostInMemory

  private let method: String
  private let url: String
  private let headers: HeaderFields
  private let bodyFile: String?

  /// Checks everything that can be checked without a server.
  init(_ arguments: Arguments) throws(Failure) {
    let operands = arguments.operands
    method = operands.count > 1 ? operands[0].uppercased() : "GET"
    url = operands[operands.count - 1]
    guard operands.count > 1 || url.contains("/") else {
      throw .usage("URL is missing; write https://HOST/PATH, or /PATH at the account's server")
    }
    bodyFile = arguments[.body]
    headers = HeaderFields(
      try arguments.all(.header).map { text throws(Failure) in try Self.field(text) })
    _ = try Self.url(url.checkableURL)
  }

  /// The URL on the command line; `nil` for a path at an account's server.
  var address: String? { url.isServerPath ? nil : url }

  /// Whether the body comes from standard input.
  var readsInput: Bool { bodyFile == "-" }

  /// Reads the body from standard input or a pipe, or checks that its file can be read.
  func body() throws(Failure) -> WebRequestBody {
    guard let bodyFile else { return .empty }
    return try Failure.reading("--body \(bodyFile)") { () throws(FileReading.ReadError) in
      try readsInput
        ? .bytes(Data(FileReading.input(atMost: Self.limit))) : WebRequestBody(contentOf: bodyFile)
    }
  }

  /// Creates the HTTP request.
  ///
  /// A path is resolved at `server`, which may be `nil` for a URL. The request fails if the server
  /// sends no bytes for `answerLimit`.
  func http(
    body: WebRequestBody, at server: String?, answerLimit: Duration
  ) throws(Failure) -> WebRequest {
    var request = WebRequest(
      method: method, url: try Self.url(try address(at: server)), headers: headers, body: body)
    request.maximumResponseBytes = Int64(Self.limit)
    // A large body may take any time as long as bytes arrive.
    request.timeout = nil
    request.idleTimeout = answerLimit
    return request
  }

  private func address(at server: String?) throws(Failure) -> String {
    guard url.isServerPath else { return url }
    guard let server, let origin = try? ResourceOrigin(server) else {
      throw .usage("a URL that begins with a slash needs an account with a known server")
    }
    return origin.description + url
  }

  private static func url(_ text: String) throws(Failure) -> URL {
    do throws(SQOAuthError) {
      _ = try ResourceOrigin(text)
    } catch {
      throw .refused(error, address: text, acceptsPath: true)
    }
    guard let url = URL(string: text) else {
      throw .usage("the URL is malformed: write https://HOST/PATH")
    }
    return url
  }

  /// Parses a header field.
  ///
  /// Error messages never repeat the field's value, because the value may be a secret.
  private static func field(_ text: String) throws(Failure) -> HeaderFields.Field {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw .usage("--header takes a name, a colon and a value: --header 'NAME: VALUE'")
    }
    let value = parts[1].drop { $0 == " " || $0 == "\t" }
    return HeaderFields.Field(name: String(parts[0]), value: String(value))
  }
}
