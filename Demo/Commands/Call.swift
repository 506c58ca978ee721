import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let body = Option(
    "--body", value: "FILE|-",
    help: "The body to send: the content of a file or a pipe, or - for standard input.")
  static let header = Option(
    "--header", value: "'NAME: VALUE'", repeats: true,
    help: "A header field of the request; may be given more than once.")
}

/// The command `call`: sends a request with the account's token.
struct Call: Command {
  static let name = "call"
  static let summary = "Send a request with a token and print the answer."
  static let details = """
    The body of the answer goes to standard output unchanged. If it is an HTML page of an
    error, a terminal shows only its heading. If the status is not 2xx, the exit status is
    1, and standard error shows the status and the server's challenge.

    If the token has expired, or if the server refuses it, it is refreshed first. The token
    goes only to the server of the URL, since the command follows no redirect, and only by
    https, or by http on this machine. If you listed servers with --resource, it goes only
    to those. It replaces an Authorization field of yours. If it is bound to a key, the
    command also sends a proof. A URL that begins with a slash is an address at the
    account's authorization server. Without METHOD the request is a GET.

    Without a provider's options the URL is enough: 'sq-demo call https://api.example.com/'.
    If the server demands a token, the command asks it which authorization server it trusts
    (RFC 9728), registers itself there, and signs you in, in your browser or by a code on
    another device. It keeps the account under the name of the resource, so the next call
    needs neither. --account with a new name makes another account for the same resource. If
    the server later demands more scopes or another login, you sign in again. A script
    without a browser and a terminal gets the error sign_in_needed instead. 'sq-demo
    discover URL' shows beforehand what the command would do. --client-id can be the address
    of a document about the client; the other options of a client, such as --key and
    --profile, need a provider. A client secret that you give goes to no server that the
    command finds.

    The account that a call has kept for the URL comes first. Then comes an account from
    'sq-demo login' if its own server or, with --resource, a listed server is that of the
    URL. At any other server that does not describe itself, --account must say whose token
    it may get. If the options name a provider, they make a new account, as for 'sq-demo
    token'. Try it without an account: 'sq-demo call GET /api/me --sandbox'.

    With --json it prints one object: status, headers (by names in lower case), and body,
    or body_base64 if the answer is not text in UTF-8.
    """
  static let forms = [Form(operands: ["METHOD", "URL"], optional: "METHOD")]
  static let options = [.header, .body, .json] + AccountOptions.optionsOrSandbox + [.device]

  private let request: CallRequest
  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments, findServer: true)
    request = try CallRequest(arguments)
    printsJSON = arguments.contains(.json)
    guard !request.readsInput || account.signIn.readsNoInput else {
      throw .usage("--body - and a redirect that you paste cannot both read standard input")
    }
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    // Read the body before the user signs in: if it cannot be read, no token is needed.
    let body = try request.body()
    switch try await account.route(to: request.address, console) {
    case .account(let options):
      try await send(body, by: options, console)
    case .resource(let access):
      let http = try request.http(
        body: body, at: nil, answerLimit: account.signIn.answerLimit)
      switch try await access.send(http, console) {
      case .answered(let response, let token, let notKept):
        var failure: Failure?
        do throws(Failure) {
          try show(response, to: http, token, console)
        } catch {
          failure = error
        }
        if let failure = console.failure(failure, notKept: notKept) { throw failure }
      case .undescribed(let reason):
        // The resource has no metadata (RFC 9728), so its authorization server is not known. The
        // user must name the account whose token the resource gets.
        if let failure = access.accountIsOpen { throw failure }
        do throws(Failure) {
          try await send(body, by: access.options, console)
        } catch {
          throw error.missing(reason, of: access.address)
        }
      }
    }
  }

  /// Sends the request with the token of an account.
  private func send(
    _ body: WebRequestBody, by options: AccountOptions, _ console: Console
  ) async throws(Failure) {
    try await options.withAccount(console) { account throws(Failure) in
      let http = try request.http(
        body: body, at: account.server, answerLimit: self.account.signIn.answerLimit)
      let response: WebResponse
      do throws(Failure) {
        response = try await Failure.translating { () throws(SQOAuthError) in
          // The server on the command line may get the token, unless the user listed servers.
          if !account.hasListedResources {
            try account.oauth.allowTokens(at: http.url.absoluteString)
          }
          return try await account.oauth.module.send(http)
        }
      } catch {
        throw error.hiding(account.oauth.result.token)
      }
      try show(response, to: http, account.oauth.result.token, console)
    }
  }

  private func show(
    _ response: WebResponse, to http: WebRequest, _ token: SQToken?, _ console: Console
  ) throws(Failure) {
    if printsJSON {
      try console.result(try oneLineOfJSON(CallReport(response)))
    } else if console.output.isTerminal, let summary = response.summaryOfErrorPage {
      try console.result(summary)
    } else {
      try console.content(Array(response.body))
    }
    if !(200...299).contains(response.status) {
      throw Failure(response, to: http).hiding(token)
    }
  }
}

/// A server's answer as JSON for a program.
private struct CallReport: Encodable {
  private let status: Int
  private let headers: [String: String]
  private let body: String?
  private let bodyBase64: String?

  init(_ response: WebResponse) {
    status = response.status
    headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) {
      $0 + ", " + $1
    }
    body = String(validating: response.body, as: UTF8.self)
    bodyBase64 = body == nil ? response.body.base64EncodedString() : nil
  }
}

extension WebResponse {
  /// A one-line summary of an HTML error page; `nil` for any other answer.
  fileprivate var summaryOfErrorPage: String? {
    let isHTML = headers["content-type"]?.lowercased().hasPrefix("text/html") == true
    guard isHTML, !(200...299).contains(status) else { return nil }
    return HTMLSummary(String(decoding: body, as: UTF8.self)).text(ofBytes: body.count)
  }
}

extension Failure {
  /// Creates the failure for an answer with a status other than 2xx.
  fileprivate init(_ response: WebResponse, to request: WebRequest) {
    self.init(
      "http_\(response.status)",
      "the answer to \(request.description.onScreen) has status \(response.status)",
      status: .notAuthorized)
    challenge = response.tokenChallenge?.inWords
  }
}
