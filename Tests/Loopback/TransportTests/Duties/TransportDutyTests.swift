import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthTesting
import TestSupport
import Testing

/// Tests of the check that an app runs on its own HTTP client, with good and careless clients.
///
/// The tests run one by one, because the check measures how soon a request ends. Several checks at
/// once could make a good client too slow for that.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TransportDutyTests {
  @Test func `the SDK's own HTTP client meets every transport duty`() async throws {
    let broken = try await CurlTransport().brokenDuties()
    #expect(broken == [])
  }

  @Test func `a transport with one method that forwards to the SDK's transport meets every duty`()
    async throws
  {
    let broken = try await NaiveTransport { try await $1.send($0) }.brokenDuties()
    #expect(broken == [])
  }

  /// A careless client, and the duties that it breaks.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let duties: Set<HTTPTransportDuty>
    let transport: NaiveTransport

    init(
      _ testDescription: String, _ duties: Set<HTTPTransportDuty>, _ transport: NaiveTransport
    ) {
      (self.testDescription, self.duties, self.transport) = (testDescription, duties, transport)
    }
  }

  private static let cases = [
    Case("sends POST always", [.method], .changing { $0.method = "POST" }),
    Case(
      "writes every method in upper case", [.method],
      .changing { $0.method = $0.method.uppercased() }),
    Case(
      "drops the query", [.url],
      .changing { request in
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        parts?.query = nil
        request.url = parts?.url ?? request.url
      }),
    Case(
      "escapes the URL again", [.url],
      .changing { request in
        let text = request.url.absoluteString.replacing("%", with: "%25")
        request.url = URL(string: text) ?? request.url
      }),
    Case("drops all fields", [.fields], .changing { $0.headers = [:] }),
    Case(
      "knows only content in memory", [.fileBody, .streamBody],
      .changing { request in
        guard case .bytes = request.body else {
          request.body = .empty
          return
        }
      }),
    Case(
      "sends a stream twice", [.streamBody],
      .changing { request in
        guard case .stream(_, let makeChunks) = request.body else { return }
        _ = makeChunks()
      }),
    Case(
      "merges repeated fields", [.responseFields],
      .changing({ _ in }, response: { $0.head.headers["Set-Cookie"] = "first=1" })),
    Case("tries again after a failure", [.once], .tryingAgain),
    Case("tries again after a 503", [.once], .tryingAgainAfter503),
    Case("follows redirects", [.redirects], .followingRedirects),
    Case("keeps cookies", [.cookies], .keepingCookies()),
    Case("caches", [.cache], .caching()),
    Case(
      "accepts no compression", [.compression],
      .changing { $0.headers["Accept-Encoding"] = "identity" }),
    Case(
      "reports no progress", [.progress], .changing { $0.progress = nil }),
    Case(
      "ignores limits and cancellation", [.timeLimit, .idleLimit, .cancellation, .interruption],
      .endless),
    Case(
      "throws for refusals", [.status, .responseFields, .file, .stream], .throwingStatuses),
    Case(
      "collects content in memory", [.file, .fileMode, .fileLink, .stream, .responseLimit],
      .collecting),
  ]

  @Test(arguments: cases)
  func `the check names each duty that a careless HTTP client breaks`(naive: Case) async throws {
    let broken = try await naive.transport.brokenDuties()
    #expect(Set(broken.map(\.duty)) == naive.duties, "\(broken)")
    #expect(broken.allSatisfy { "\($0)".hasPrefix($0.duty.rawValue + ": ") })
  }

  @Test func `a client that turns failures into 503 responses breaks the duties about errors`()
    async throws
  {
    let broken = try await NaiveTransport.inventing.brokenDuties()
    let duties = Set(broken.map(\.duty))
    #expect(
      duties.isSuperset(of: [
        .truncation, .fileLink, .timeLimit, .idleLimit, .cancellation, .interruption,
        .refusedConnection,
      ]), "\(broken)")
  }

  /// The checks of the duties run at the same time, and each must recognize its own requests.
  @Test func `the checks of two duties never send requests to the same path`() async throws {
    var dutyOfPath: [String: HTTPTransportDuty] = [:]
    for duty in HTTPTransportDuty.allCases {
      let paths = Locked<Set<String>>([])
      let client = NaiveTransport { request, curl in
        paths.withLock { _ = $0.insert(request.url.path()) }
        return try await curl.send(request)
      }
      let broken = try await client.brokenDuties(among: [duty])
      #expect(broken == [])
      for path in paths.withLock(\.self) {
        let other = dutyOfPath.updateValue(duty, forKey: path)
        #expect(other == nil, "\(duty) and \(other?.rawValue ?? "") share \(path)")
      }
    }
    #expect(dutyOfPath.count > HTTPTransportDuty.allCases.count)
  }

  @Test func `brokenDuties(among:) checks only the given duties`() async throws {
    let client = NaiveTransport.changing { $0.method = "POST" }
    #expect(try await client.brokenDuties(among: [.fields, .cache]) == [])
    let broken = try await client.brokenDuties(among: [.method])
    #expect(broken.map(\.finding) == ["it sends POST in place of GET"])
  }

  /// In this test, the process can open no file, so the test runs in its own process.
  @Test(.ownThreads) func `a check that cannot start its server leaves no folder`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      setenv("TMPDIR", folder.path, 1)
      try #require(FileManager.default.temporaryDirectory.path.hasPrefix(folder.path))
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limit = rlimit()
      try #require(getrlimit(kind, &limit) == 0)
      // A new descriptor has the lowest free number, so every lower one is in use.
      let lowest = dup(STDERR_FILENO)
      close(lowest)
      var none = limit
      none.rlim_cur = rlim_t(lowest)
      try #require(setrlimit(kind, &none) == 0)
      await onSerialQueue {
        await failure(.connectionFailed) { try await CurlTransport().brokenDuties(among: []) }
      }
      try #require(setrlimit(kind, &limit) == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
      withExtendedLifetime(folder) {}
    }
  }
}
