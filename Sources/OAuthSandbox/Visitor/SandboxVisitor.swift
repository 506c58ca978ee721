public import SQBasics
public import SQFoundation
import SQLoopback

/// A simulated user with a browser, who signs in at a sandbox and follows the redirect to the app.
///
/// ```swift
/// let visit = try await SandboxVisitor().visit(authorizationURL)
/// ```
///
/// It keeps its cookies, so its second visit needs no password. It sends requests to loopback
/// addresses only, and to an address of the app only if it follows redirects. A redirect to the
/// app's own scheme or `https` address ends the visit and is returned. Any other redirect to
/// another computer is an error.
public final class SandboxVisitor: Sendable {
  /// The user's behavior during the sign-in.
  public enum Decision: Sendable, Hashable {
    /// The user signs in and allows the access.
    case allow
    /// The user signs in and denies the access.
    case deny
    /// The user cancels on the login page or, if already signed in, denies the access.
    case cancel
  }

  /// An answer that the visitor got: a page or a redirect.
  public struct Page: Sendable {
    /// The address of the page.
    public let url: String
    /// The HTTP status of the answer.
    public let status: Int
    /// The HTML of the page.
    public let body: String
  }

  /// The result of a visit that led back to the app.
  public struct Visit: Sendable {
    /// All pages in order, up to the page that the user sees at the end.
    public let pages: [Page]
    /// The address that the sandbox sent the user back to.
    ///
    /// If it is an `http` address, the visitor requested it, and the answer is the last page,
    /// unless the visitor was created with `followsRedirects` set to `false`. The visitor did not
    /// open a redirect with `https` or an app's own scheme: the caller passes it to the app, as the
    /// system would. A user agent passes every redirect to `PendingSignIn.handleRedirect(_:)`.
    public let redirect: String
    /// The parameters that the visitor posted, or would have posted, to ``redirect``, with
    /// `response_mode=form_post`.
    ///
    /// It is empty after an HTTP redirect, because the redirect's parameters are in the address.
    public var form: [SandboxParameter] = []

    /// Whether a page asked the user for a password.
    public var sawLogin: Bool { pages.contains { Form($0.body)?.asksForPassword ?? false } }
  }

  private let user: SandboxUser
  private let decision: Decision
  private let triesWrongPasswordFirst: Bool
  private let followsRedirects: Bool
  private let cookies = Locked<[String: [String: String]]>([:])

  /// Creates a visitor, who by default is Alice and allows everything.
  ///
  /// With `followsRedirects` set to `false`, the visitor requests no address of the app, and ends
  /// with ``Visit/redirect``. Use it for a web application on a loopback address that recognizes
  /// the user's browser by a cookie: the test's own HTTP client, which has the cookie, requests the
  /// redirect.
  public init(
    user: SandboxUser = .alice, decision: Decision = .allow,
    triesWrongPasswordFirst: Bool = false, followsRedirects: Bool = true
  ) {
    self.user = user
    self.decision = decision
    self.triesWrongPasswordFirst = triesWrongPasswordFirst
    self.followsRedirects = followsRedirects
  }

  /// Opens an authorization URL and completes the sign-in, up to the page after the redirect.
  ///
  /// The visitor can also open the address of a logout, and signs out if its decision is to allow.
  /// A logout without a redirect back to the app ends with an error for the page "You are signed
  /// out".
  ///
  /// - Throws: ``SandboxError``: ``SandboxError/endedOnPage(heading:detail:)`` if a page leads no
  ///   further, as after a wrong password; another error if a redirect leads to another computer, a
  ///   connection breaks or the redirects do not end.
  public func visit(_ url: URL) async throws(SandboxError) -> Visit {
    switch try await walk(url) {
    case .app(let visit): return visit
    case .page(let page, let pages): throw .ended(on: page, after: pages)
    }
  }

  /// Enters the code that a device shows, then signs in and decides.
  ///
  /// `url` is the address that the device shows, with or without the code in it. Returns all pages
  /// in order. The last one says that the device is connected or, after a denial, that it is not.
  ///
  /// - Throws: ``SandboxError``, as for ``visit(_:)``.
  /// - SeeAlso: RFC 8628, section 3.3
  @discardableResult
  public func enterCode(_ userCode: String, at url: URL) async throws(SandboxError) -> [Page] {
    switch try await walk(url, userCode: userCode) {
    case .page(let page, let pages) where page.status == 200: return pages
    case .page(let page, let pages): throw .ended(on: page, after: pages)
    case .app: throw .unexpectedAnswer("the page for codes led to an app")
    }
  }

  // MARK: Steps

  /// The point at which a walk from page to page ended: at the app or on a page.
  private enum WalkEnd {
    case app(Visit)
    case page(Page, [Page])
  }

  /// Fills in each page's form, until a redirect leads to the app or a page has no form to fill in.
  private func walk(_ url: URL, userCode: String? = nil) async throws(SandboxError) -> WalkEnd {
    guard let start = LoopbackURL(url.absoluteString) else {
      throw .notLoopback(RedirectTarget.origin(of: url.absoluteString))
    }
    var next = Step(url: start)
    var pages: [Page] = []
    var passwordsTyped = 0
    var hasEnteredCode = false
    // A sign-in takes four or five steps; a visitor who needs 16 is in a loop.
    for _ in 0..<16 {
      let page: Page
      switch try await take(next, from: start, &pages) {
      case .end(let visit): return .app(visit)
      case .open(let step):
        next = step
        continue
      case .read(let last): page = last
      }
      guard let form = Form(page.body) else { return .page(page, pages) }
      guard form.action.hasPrefix("/") else {
        return .app(try await post(form, from: start, &pages))
      }
      guard let url = LoopbackURL(start.origin + form.action) else { return .page(page, pages) }
      if form.asksForCode {
        guard let userCode, !hasEnteredCode else { return .page(page, pages) }
        hasEnteredCode = true
        next = Step(url: url, form: fillIn(userCode, form))
        continue
      }
      if form.asksForPassword && decision != .cancel { passwordsTyped += 1 }
      guard passwordsTyped <= (triesWrongPasswordFirst ? 2 : 1) else {
        return .page(page, pages)
      }
      next = Step(url: url, form: fill(form, attempt: passwordsTyped))
    }
    throw .unexpectedAnswer("the sign-in did not end after 16 steps")
  }

  private struct Step {
    let url: LoopbackURL
    /// The fields of a form, if the step is a POST.
    var form: [(name: String, value: String)]?
  }

  /// The result of a step.
  private enum Outcome {
    case open(Step)
    case read(Page)
    case end(Visit)
  }

  /// Sends the request of a step and, if the answer is a redirect, finds the target.
  private func take(
    _ step: Step, from start: LoopbackURL, _ pages: inout [Page]
  ) async throws(SandboxError) -> Outcome {
    let answer = try await send(step)
    let page = Page(step.url.origin + step.url.target, answer)
    pages.append(page)
    guard (301...308).contains(answer.status), let location = answer.header("location") else {
      return .read(page)
    }
    switch try RedirectTarget(location, from: step.url, start: start) {
    case .sameServer(let url): return .open(Step(url: url))
    case .app(let redirect): return .end(Visit(pages: pages, redirect: redirect))
    case .listener(let url, let redirect):
      guard followsRedirects else { return .end(Visit(pages: pages, redirect: redirect)) }
      pages.append(Page(redirect, try await send(Step(url: url))))
      return .end(Visit(pages: pages, redirect: redirect))
    }
  }

  /// Posts a page's form to the app, for `response_mode=form_post`, if the app listens.
  private func post(
    _ form: Form, from start: LoopbackURL, _ pages: inout [Page]
  ) async throws(SandboxError) -> Visit {
    let parameters = form.hidden.map { SandboxParameter(name: $0.name, value: $0.value) }
    switch try RedirectTarget(form.action, from: start, start: start) {
    case .app: break
    case .listener where !followsRedirects: break
    case .sameServer(let url), .listener(let url, _):
      let answer = try await send(Step(url: url, form: form.hidden))
      pages.append(Page(form.action, answer))
    }
    return Visit(pages: pages, redirect: form.action, form: parameters)
  }

  private func fill(_ form: Form, attempt: Int) -> [(name: String, value: String)] {
    guard form.asksForPassword else { return form.hidden + [("decision", choice(form))] }
    guard decision != .cancel else { return form.hidden + [("decision", "cancel")] }
    let isWrong = triesWrongPasswordFirst && attempt == 1
    return form.hidden + [
      ("username", user.name),
      ("password", isWrong ? "not-" + user.password : user.password),
      ("decision", "sign-in"),
    ]
  }

  private func fillIn(_ userCode: String, _ form: Form) -> [(name: String, value: String)] {
    form.hidden.filter { $0.name != "user_code" }
      + [("user_code", userCode), ("decision", "connect")]
  }

  /// Returns the button that the user presses on a page without a password field.
  private func choice(_ form: Form) -> String {
    if form.decisions.contains("continue") {
      return form.hidden("account") == user.name ? "continue" : "switch"
    }
    if form.decisions.contains("sign-out") { return decision == .allow ? "sign-out" : "stay" }
    return decision == .allow ? "allow" : "deny"
  }

  private func send(_ step: Step) async throws(SandboxError) -> LoopbackAnswer {
    let origin = step.url.origin
    let jar = cookies.withLock { $0[origin] ?? [:] }
    var headers = [(name: "Accept", value: "text/html")]
    if !jar.isEmpty {
      headers.append(("Cookie", jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")))
    }
    var body = ""
    if let form = step.form {
      headers.append(("Content-Type", "application/x-www-form-urlencoded"))
      body = form.map { FormCoding.encode($0.name) + "=" + FormCoding.encode($0.value) }
        .joined(separator: "&")
    }
    let answer: LoopbackAnswer
    do {
      answer = try await LoopbackClient.send(
        step.form == nil ? "GET" : "POST", step.url, headers: headers, body: Data(body.utf8))
    } catch {
      throw SandboxError(error)
    }
    keepCookies(of: answer, for: origin)
    return answer
  }

  private func keepCookies(of answer: LoopbackAnswer, for origin: String) {
    for field in answer.headers where field.name == "set-cookie" {
      let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { continue }
      cookies.withLock { $0[origin, default: [:]][String(pair[0])] = String(pair[1]) }
    }
  }
}

extension SandboxVisitor.Page {
  init(_ url: String, _ answer: LoopbackAnswer) {
    self.init(
      url: url, status: answer.status, body: String(decoding: answer.body, as: UTF8.self))
  }
}

extension SandboxVisitor: Redacted {
  /// The user's name, without the password and the cookies.
  public var description: String { "visitor \(user.name)" }
}
