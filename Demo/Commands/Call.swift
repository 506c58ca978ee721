import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Option {
  static let body = Option(
    "--body", value: "FILE|-",
    help: "What to send: the content of a file or a pipe, or standard input's.")
  static let header = Option(
    "--header", value: "'NAME: VALUE'", repeats: true,
    help: "A header field of the request; may be given more than once.")
}

/// `call`: sends one request with the account's token.
struct Call: Command {
  static let name = "call"
  static let summary = "Send a request with the account's token and print the answer."
  static let details = """
    The answer's body goes to standard output as it is; but of an error that is a page of
    HTML, a terminal shows the heading only. Where the status is not 2xx the
    exit status is 1, and standard error tells the status and what the server asks for.

    A token that has expired, or that the server refuses, is refreshed first. It goes to
    the server of the URL alone, since no redirect is followed, and to https only, or to
    http on this machine; where the account was given servers by --resource, to those
    only. A field Authorization is replaced by it. A URL that begins with a slash is one
    at the authorization server.

    It is an account that a login before has kept, or a new one, as for 'sq-demo
    token'. Try it without an account: 'sq-demo call GET /api/me --sandbox'.

    With --json it is one object: status, headers (by names in lower case), and body, or
    body_base64 if the answer is not text in UTF-8.
    """
  static let forms = [Form(operands: ["METHOD", "URL"])]
  static let options = [.header, .body, .json] + AccountOptions.optionsOrSandbox

  private let request: CallRequest
  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
    request = try CallRequest(arguments)
    printsJSON = arguments.contains(.json)
    guard !request.readsInput || account.signIn.readsNoInput else {
      throw .usage("--body - and a redirect that is pasted both read standard input")
    }
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    // Before a user signs in: what cannot be sent needs no token.
    let body = try request.body()
    try await account.withAccount(console) { account throws(Failure) in
      let http = try request.http(
        body: body, at: account.server, patience: self.account.signIn.patience)
      let response: HTTPResponse
      do throws(Failure) {
        response = try await Failure.translating { () throws(SQOAuthError) in
          // A person, or a script of theirs, has named the server; a list says more than that.
          if !account.hasListedResources {
            try account.oauth.allowTokens(at: http.url.absoluteString)
          }
          return try await account.oauth.module.send(http)
        }
      } catch {
        throw error.hiding(account.oauth.result.token)
      }
      if printsJSON {
        try console.result(try oneLineOfJSON(CallReport(response)))
      } else if console.output.isTerminal, let summary = response.summaryOfErrorPage {
        try console.result(summary)
      } else {
        try console.content(Array(response.body))
      }
      if !(200...299).contains(response.status) {
        throw Failure(response, to: http).hiding(account.oauth.result.token)
      }
    }
  }
}

/// A server's answer for a program.
private struct CallReport: Encodable {
  private let status: Int
  private let headers: [String: String]
  private let body: String?
  private let bodyBase64: String?

  init(_ response: HTTPResponse) {
    status = response.status
    headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) {
      $0 + ", " + $1
    }
    body = String(validating: response.body, as: UTF8.self)
    bodyBase64 = body == nil ? response.body.base64EncodedString() : nil
  }
}

extension HTTPResponse {
  /// The words of a page of HTML that tells a person of an error; `nil` for any other answer.
  fileprivate var summaryOfErrorPage: String? {
    let isHTML = headers["content-type"]?.lowercased().hasPrefix("text/html") == true
    guard isHTML, !(200...299).contains(status) else { return nil }
    return HTMLSummary(String(decoding: body, as: UTF8.self)).text(ofBytes: body.count)
  }
}

extension Failure {
  /// An answer that is not what was hoped for.
  fileprivate init(_ response: HTTPResponse, to request: HTTPRequest) {
    self.init(
      "http_\(response.status)",
      "the answer to \(request.description.printable) has status \(response.status)",
      status: .notAuthorized)
    challenge = response.bearerChallenge?.inWords
  }
}
