import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The next and previous pages that an API names.
@Suite("Paging", .timeLimit(.minutes(1))) struct PagingTests {
  struct List: Decodable, Sendable { var items: [Int] }

  /// Returns an API of three pages; `naming` says how a page names its neighbours.
  func fixture(
    _ paging: Paging, change: (inout ClientConfiguration) -> Void = { _ in },
    naming: @escaping @Sendable (_ page: Int) -> (headers: HeaderFields, members: String)
  ) async throws -> PipeFixture {
    var configuration = PipeConfiguration()
    configuration.paging = paging
    let fixture = try await PipeFixture(configuration, change: change)
    fixture.session.api { request in
      let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems
      let page = items?.first { $0.name == "page" }?.value.flatMap { Int($0) } ?? 1
      let (headers, members) = naming(page)
      return WebResponse(
        status: 200, headers: headers,
        body: Data(#"{"items":[\#(page)]\#(members.isEmpty ? "" : "," + members)}"#.utf8))
    }
    return fixture
  }

  /// Reads all pages, and goes back from the last one.
  func check(_ fixture: PipeFixture, sourceLocation: SourceLocation = #_sourceLocation) async throws
  {
    var pages: [Pipeline.Page<List>] = []
    for try await page in fixture.pipe.pages(List.self, parameters: ["q": "a b"]) {
      pages.append(page)
    }
    #expect(pages.map(\.value.items) == [[1], [2], [3]], sourceLocation: sourceLocation)
    let second = try await pages.last?.previous()
    #expect(second?.value.items == [2], sourceLocation: sourceLocation)
    #expect(try await second?.next()?.value.items == [3], sourceLocation: sourceLocation)
    #expect(try await pages.last?.next() == nil, sourceLocation: sourceLocation)
    #expect(try await pages.first?.previous() == nil, sourceLocation: sourceLocation)
    let tokens = Set(fixture.session.apiRequests.map { $0.headers["Authorization"] })
    #expect(tokens == ["Bearer T1"], sourceLocation: sourceLocation)
    #expect(
      fixture.asked.first == "GET https://api.example/v2/files?q=a%20b",
      sourceLocation: sourceLocation)
  }

  @Test func `the pages of a list are read for one user`() async throws {
    let fixture = try await fixture(.body()) { page in ([:], #""next":"?page=\#(page + 1)""#) }
    let first = try await fixture.pipe.pages(List.self).first()
    let second = try await first.next()
    try await fixture.session.oauth.signIn()
    for page in [first, second] {
      let error = await failure(as: PipeError.self) { try await page?.next() }
      guard case .noAccess(let cause)? = error else {
        Issue.record("unexpected result: \(String(describing: error))")
        return
      }
      #expect(cause.code == .sessionReplaced)
    }
    #expect(fixture.asked.count == 2)
    // The new user reads a list from its beginning.
    let again = try await fixture.pipe.pages(List.self).first()
    #expect(try await again.next()?.value.items == [2])
  }

  @Test func `absolute and relative URLs in a Link field name the next and previous pages`()
    async throws
  {
    try await check(
      fixture(.linkHeader) { page in
        var links: [String] = []
        if page < 3 { links.append("<https://api.example/v2/files?page=\(page + 1)>; rel=next") }
        if page > 1 { links.append("<?page=\(page - 1)>; rel=\"first prev\"") }
        return (["Link": links.joined(separator: ", ")], "")
      })
  }

  @Test func `the next and previous pages are found in the header fields that the app names`()
    async throws
  {
    try await check(
      fixture(.headers(next: "X-Next", previous: "X-Previous")) { page in
        var fields = HeaderFields()
        if page < 3 { fields["x-next"] = "files?page=\(page + 1)" }
        if page > 1 { fields["x-previous"] = "/v2/files?page=\(page - 1)" }
        return (fields, "")
      })
  }

  @Test func `the next and previous pages are found in members of the body`() async throws {
    try await check(
      fixture(.body(next: "paging.next", previous: "paging.previous")) { page in
        let next = page < 3 ? #""?page=\#(page + 1)""# : "null"
        let previous = page > 1 ? #""?page=\#(page - 1)""# : #""""#
        return ([:], #""paging":{"next":\#(next),"previous":\#(previous)}"#)
      })
  }

  @Test func `the next and previous pages are found by page tokens`() async throws {
    let fixture = try await fixture(.tokens(next: "next", previous: "back", parameter: "page")) {
      page in
      var members: [String] = []
      if page < 3 { members.append(#""next":"\#(page + 1)""#) }
      if page > 1 { members.append(#""back":\#(page - 1)"#) }
      return ([:], members.joined(separator: ","))
    }
    try await check(fixture)
    #expect(fixture.asked[1] == "GET https://api.example/v2/files?q=a%20b&page=2")
    #expect(fixture.asked[2] == "GET https://api.example/v2/files?q=a%20b&page=3")
  }

  @Test(arguments: [#"{"next":""}"#, #"{"next":null}"#, #"{}"#, #""text""#, "5", "[]"])
  func `a body without a page token or URL ends the iteration over the pages`(body: String)
    async throws
  {
    for paging in [Paging.tokens(next: "next", parameter: "page"), .body()] {
      var configuration = PipeConfiguration()
      configuration.paging = paging
      let fixture = try await PipeFixture(configuration).answering(body)
      for try await page in fixture.pipe.pages() {
        #expect(page.nextURL == nil && page.previousURL == nil)
      }
      #expect(fixture.asked.count == 1)
    }
  }

  @Test func `an access token in an API's link is removed from the URL`() async throws {
    let fixture = try await fixture(.body(next: "paging.next")) { page in
      let link = "/v2/files?access_token=T1&page=\(page + 1)&limit=2"
      return ([:], page < 2 ? #""paging":{"next":"\#(link)"}"# : #""x":1"#)
    }
    for try await page in fixture.pipe.pages(List.self) { _ = page }
    #expect(fixture.asked.last == "GET https://api.example/v2/files?page=2&limit=2")
    let second = fixture.session.apiRequests.last
    #expect(second?.headers["Authorization"] == "Bearer T1")
  }

  @Test(arguments: [
    "https://evil.example/v2/files?page=2", "https://api.example:444/", "//evil.example/",
    "https://api.example.evil.example/",
  ])
  func `a next page on another server gets no token and no request`(url: String) async throws {
    let fixture = try await fixture(.linkHeader) { _ in (["Link": "<\(url)>; rel=next"], "") }
    let first = try await fixture.pipe.pages(List.self).first()
    let error = await pipeFailure { () async throws(PipeError) in try await first.next() }
    #expect(error?.cause?.code == .originNotAllowed && fixture.asked.count == 1)
  }

  @Test(arguments: ["http://api.example/", "file:///etc/passwd", "javascript:x"])
  func `a next page at an insecure or invalid URL gets no request`(url: String) async throws {
    let fixture = try await fixture(.linkHeader) { _ in (["Link": "<\(url)>; rel=next"], "") }
    let first = try await fixture.pipe.pages(List.self).first()
    await pipeFailure { () async throws(PipeError) in try await first.next() }
    #expect(fixture.asked.count == 1)
  }

  @Test func `a next page on another server gets the token if the client allows that server`()
    async throws
  {
    let fixture = try await fixture(
      .linkHeader,
      change: {
        let origins = ["https://api.example", "https://two.example"]
        $0.resourceOrigins = (try? Set(origins.map { try ResourceOrigin($0) })) ?? []
      },
      naming: { page in
        page == 1 ? (["Link": "<https://two.example/?page=2>; rel=next"], "") : ([:], "")
      })
    let second = try await fixture.pipe.pages(List.self).first().next()
    #expect(second?.value.items == [2])
    #expect(fixture.session.apiRequests.last?.headers["Authorization"] == "Bearer T1")
  }

  @Test
  func `a next page on another server gets the token if a pipe is registered for that server`()
    async throws
  {
    let fixture = try await fixture(.linkHeader) { page in
      page == 1 ? (["Link": "<https://two.example/?page=2>; rel=next"], "") : ([:], "")
    }
    try Pipeline("https://two.example", module: fixture.session.module).add("files")
    let second = try await fixture.pipe.pages(List.self).first().next()
    #expect(second?.value.items == [2])
  }

  @Test func `reading pages whose links form a cycle ends with an error`() async throws {
    let fixture = try await fixture(.linkHeader) { page in
      (["Link": "<?page=\(page % 3 + 1)>; rel=next"], "")
    }
    var read = 0
    let error = await pipeFailure { () async throws(PipeError) in
      for try await _ in fixture.pipe.pages(List.self) { read += 1 }
    }
    guard case .unreadable? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    // The first page has a URL without a number, and is read again at its URL with the number.
    #expect(read == 4)
  }

  @Test func `reading endless pages ends with an error at the limit`() async throws {
    let fixture = try await fixture(.linkHeader) { page in
      (["Link": "<?page=\(page + 1)>; rel=next"], "")
    }
    var read = 0
    let error = await pipeFailure { () async throws(PipeError) in
      for try await _ in fixture.pipe.pages(List.self, limit: 20) { read += 1 }
    }
    guard case .unreadable(let reason)? = error else {
      Issue.record("unexpected result: \(String(describing: error))")
      return
    }
    #expect(read == 20 && fixture.asked.count == 20)
    #expect(reason.message.contains("more than 20 pages"))
  }

  @Test func `a failed iteration has no more pages, and a new iteration starts at the first page`()
    async throws
  {
    let fixture = try await PipeFixture().answering("", status: 503)
    let pages = fixture.pipe.pages(List.self)
    var iterator = pages.makeAsyncIterator()
    await pipeFailure { () async throws(PipeError) in try await iterator.next() }
    #expect(try await iterator.next() == nil && fixture.asked.count == 1)
    fixture.answering(#"{"items":[1]}"#)
    var items: [[Int]] = []
    for try await page in pages { items.append(page.value.items) }
    #expect(items == [[1]])
  }

  @Test func `pages are read only when they are needed`() async throws {
    let fixture = try await fixture(.linkHeader) { page in
      (["Link": "<?page=\(page + 1)>; rel=next"], "")
    }
    for try await page in fixture.pipe.pages(List.self) where page.value.items == [2] { break }
    #expect(fixture.asked.count == 2)
  }
}

/// `Link` fields in all spellings (RFC 8288, section 3).
@Suite("Link fields") struct LinkFieldTests {
  /// Returns the URL of the next page that the fields name.
  func next(_ fields: [String]) async throws -> String? {
    let fixture = try await PipeFixture()
    fixture.session.api { _ in
      WebResponse(
        status: 200, headers: HeaderFields(fields.map { .init(name: "Link", value: $0) }),
        body: Data("{}".utf8))
    }
    return try await fixture.pipe.pages().first().nextURL?.absoluteString
  }

  @Test(arguments: [
    ["<https://a.example/2>; rel=\"next\""],
    ["<https://a.example/2>;rel=next"],
    ["<https://a.example/2> ; REL = NEXT"],
    ["<https://a.example/1>; rel=prev, <https://a.example/2>; rel=next"],
    ["<https://a.example/1>; rel=prev", "<https://a.example/2>; rel=next"],
    [" , ,<https://a.example/2>; title=\"a, b; c \\\" <x>; rel=prev\"; rel=next"],
    ["<https://a.example/2>; rel=\"x:y next\"; rel=prev"],
    ["<https://a.example/2>; title; rel=next; x"],
    ["<https://a.example/2>; rel=next, <https://a.example/3>; rel=next"],
    ["<https://a.example/3>; rel=next; anchor=\"#x\", <https://a.example/2>; rel=next"],
    ["<https://a.example/2>; rel=next, <broken"],
  ])
  func `the next page is found in Link fields of many spellings`(fields: [String]) async throws {
    #expect(try await next(fields) == "https://a.example/2")
  }

  @Test func `the link relation that an app names is compared without case`() async throws {
    var configuration = PipeConfiguration()
    configuration.paging = .linkHeader(next: "Https://X.Example/Rel")
    let fixture = try await PipeFixture(configuration)
      .answering("{}", headers: ["Link": #"<?page=2>; rel="https://x.example/rel""#])
    let page = try await fixture.pipe.pages().first()
    #expect(page.nextURL?.absoluteString == "https://api.example/v2/files?page=2")
  }

  @Test(arguments: [
    [], [""], ["https://a.example/2; rel=next"], ["<https://a.example/2>"],
    ["<https://a.example/2>; rel=nextpage"], ["<https://a.example/2; rel=next"],
    ["<https://a.example/2>; rel=\"next"], ["<>; rel=next"],
    ["<https://a.example/2>; rev=next"], ["<https://a.example/2>, rel=next"],
    ["<https://a.example/2>; rel=prev; rel=next"], [String(repeating: "<", count: 10_000)],
  ])
  func `a Link field that is malformed or has other relations names no next page`(fields: [String])
    async throws
  {
    #expect(try await next(fields) == nil)
  }
}
