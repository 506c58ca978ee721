import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The nonces and the clocks of servers that accept proofs.
@Suite struct ProofServersTests {
  private let servers = ProofServers()
  private let now = Date(timeIntervalSince1970: 1_750_000_000)
  private let clock = ManualClock()

  private func server(
    _ origin: String = "https://api.example", _ role: ProofServers.Role = .resource
  ) throws -> ProofServers.Server {
    ProofServers.Server(try RequestTarget(text: origin), role)
  }

  private static func nonce(_ values: String...) -> HeaderFields {
    var fields = HeaderFields()
    for value in values { fields.append(HeaderFields.Field(name: "dpop-nonce", value: value)) }
    return fields
  }

  @Test func `a nonce is used only for the origin and the role of its server`() throws {
    servers.learn(Self.nonce("n"), from: try server())
    #expect(servers.known(try server("https://API.example:443/x")).nonce == "n")
    for other in ["https://api.example:444", "https://other.example", "http://api.example:443"] {
      #expect(servers.known(try server(other)).nonce == nil)
    }
    #expect(servers.known(try server("https://api.example", .authorization)).nonce == nil)
  }

  @Test
  func `a new nonce replaces the known nonce, and a response without a nonce changes nothing`()
    throws
  {
    servers.learn(Self.nonce("one"), from: try server())
    servers.learn([:], from: try server())
    #expect(servers.known(try server()).nonce == "one")
    servers.learn(Self.nonce("two"), from: try server())
    #expect(servers.known(try server()).nonce == "two")
  }

  /// Nonces of some servers have commas, semicolons and equals signs.
  @Test func `a nonce is kept exactly`() throws {
    let nonce = "a,b;c=d!#$%&'()*+-./:<>?@[]^_`{|}~"
    servers.learn(Self.nonce(nonce), from: try server())
    #expect(servers.known(try server()).nonce == nonce)
  }

  @Test(arguments: [
    ([], "there is none"), ([""], "it is empty"), (["a b"], "forbidden character"),
    (["n", "n"], "it came 2 times"), ([String(repeating: "n", count: 1025)], "longer than 1024"),
  ])
  func `the error for use_dpop_nonce says why the response's nonce cannot be used`(
    values: [String], reason: String
  ) {
    var fields = HeaderFields()
    for value in values { fields.append(HeaderFields.Field(name: "DPoP-Nonce", value: value)) }
    let advice = ProofAdvice.text(after: .useDPoPNonce, fields, at: now)
    #expect(advice?.contains(reason) == true)
    let error = SQOAuthError.refusal(
      by: "the token endpoint", ErrorResponse(error: "use_dpop_nonce"),
      WebResponse(status: 400, headers: fields), now: now)
    #expect(error.message.hasSuffix(advice ?? "-"))
    #expect(ProofAdvice.text(after: .invalidGrant, fields, at: now) == nil)
  }

  @Test func `there is no advice about a usable nonce after use_dpop_nonce`() {
    #expect(ProofAdvice.text(after: .useDPoPNonce, Self.nonce("n"), at: now) == nil)
  }

  @Test(arguments: [(90_000.0, "90000 s behind"), (-90_000, "90000 s ahead"), (3600, nil)])
  func `the error for a refused proof mentions a clock difference of more than a day`(
    difference: Double, words: String?
  ) {
    let fields: HeaderFields = ["Date": now.addingTimeInterval(difference).httpText]
    let advice = ProofAdvice.text(after: .invalidDPoPProof, fields, at: now)
    #expect(words.map { advice?.contains($0) == true } ?? (advice == nil))
  }

  @Test func `the date of a response is remembered for errors, and changes no proof`() throws {
    #expect(servers.dateLead(of: try server(), by: clock) == nil)
    servers.note(["Date": now.addingTimeInterval(-3600).httpText], from: try server(), by: clock)
    servers.note([:], from: try server(), by: clock)
    #expect(servers.dateLead(of: try server(), by: clock) == .seconds(3600))
    #expect(servers.known(try server()).clockLead == nil)
  }

  @Test func `a clock difference is forgotten when this machine's date is set`() throws {
    let fields: HeaderFields = ["Date": now.addingTimeInterval(-3600).httpText]
    #expect(servers.learnTime(fields, from: try server(), by: clock))
    servers.note(fields, from: try server(), by: clock)
    clock.advance(by: 100_000)
    #expect(try lead() == 3600)
    #expect(servers.dateLead(of: try server(), by: clock) == .seconds(3600))
    // Small steps are those of a time service.
    clock.moveDate(by: -4)
    #expect(try lead() == 3600)
    clock.moveDate(by: -3596)
    #expect(try lead() == nil)
    #expect(servers.dateLead(of: try server(), by: clock) == nil)
    // The same answer, which shows no difference now, changes nothing.
    let right: HeaderFields = ["Date": clock.now.httpText]
    #expect(!servers.learnTime(right, from: try server(), by: clock))
  }

  private func lead() throws -> Double? {
    servers.known(try server()).clockLead?.seconds(at: clock.dateOffset)
  }

  @Test(arguments: [
    [""], ["a b"], ["a\"b"], ["a\\b"], ["caf\u{E9}"], ["a\u{7F}"], ["one", "two"],
    [String(repeating: "n", count: 1025)],
  ])
  func `an invalid or repeated nonce is ignored`(values: [String]) throws {
    servers.learn(Self.nonce("old"), from: try server())
    var fields = HeaderFields()
    for value in values { fields.append(HeaderFields.Field(name: "DPoP-Nonce", value: value)) }
    servers.learn(fields, from: try server())
    #expect(servers.known(try server()).nonce == "old")
  }

  @Test func `with too many servers, the least recently used server is forgotten first`() throws {
    for number in 0..<1000 {
      servers.learn(Self.nonce("n\(number)"), from: try server("https://h\(number).example"))
      if number % 50 == 0 {
        servers.learn(Self.nonce("kept-\(number)"), from: try server())
      }
    }
    #expect(servers.known(try server()).nonce == "kept-950")
    #expect(servers.known(try server("https://h999.example")).nonce == "n999")
    #expect(servers.known(try server("https://h0.example")).nonce == nil)
  }

  @Test func `a server whose nonce is used is not forgotten`() throws {
    servers.learn(Self.nonce("steady"), from: try server())
    for number in 0..<1000 {
      servers.learn(Self.nonce("n\(number)"), from: try server("https://h\(number).example"))
      #expect(servers.known(try server()).nonce == "steady")
    }
  }

  @Test func `an account's stored nonce is used only if no newer nonce is known`() throws {
    servers.resume("stored", of: try server())
    #expect(servers.known(try server()).nonce == "stored")
    servers.resume("older", of: try server())
    servers.resume(nil, of: try server())
    servers.resume("bad nonce", of: try server("https://other.example"))
    #expect(servers.known(try server()).nonce == "stored")
    #expect(servers.known(try server("https://other.example")).nonce == nil)
  }

  @Test(arguments: [
    (0, false), (4, false), (-4, false), (60, true), (-60, true), (86_000, true), (90_000, false),
    (-90_000, false),
  ])
  func `a clock difference between a few seconds and a day is corrected once`(
    seconds: Int, isCorrected: Bool
  ) throws {
    let date = now.addingTimeInterval(Double(seconds)).httpText
    let fields: HeaderFields = ["Date": date]
    #expect(servers.learnTime(fields, from: try server(), by: clock) == isCorrected)
    #expect(try lead() == (isCorrected ? -Double(seconds) : nil))
    #expect(!servers.learnTime(fields, from: try server(), by: clock))
  }

  @Test func `a response without a usable Date does not correct the clock`() throws {
    for fields: HeaderFields in [[:], ["Date": "yesterday"], ["Date": ""]] {
      #expect(try !servers.learnTime(fields, from: server(), by: clock))
    }
  }
}
