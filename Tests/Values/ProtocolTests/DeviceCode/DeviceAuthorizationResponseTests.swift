import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// What a device authorization response may say (RFC 8628, section 3.2).
@Suite struct DeviceAuthorizationResponseTests {
  static let now = Date(timeIntervalSince1970: 1_750_000_000)
  static let members: [String: String] = [
    "device_code": #""GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS""#, "user_code": #""WDJB-MJHT""#,
    "verification_uri": #""https://example.com/device""#,
    "verification_uri_complete": #""https://example.com/device?user_code=WDJB-MJHT""#,
    "expires_in": "1800", "interval": "5",
  ]

  static func read(
    _ changes: [String: String?] = [:], status: Int = 200
  ) throws(SQOAuthError) -> DeviceAuthorizationResponse {
    var members = Self.members
    for (name, value) in changes { members[name] = value }
    let body = members.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ",")
    return try read(body: "{\(body)}", status: status)
  }

  static func read(
    body: String, status: Int = 200
  ) throws(SQOAuthError) -> DeviceAuthorizationResponse {
    let request = DeviceAuthorizationRequest(
      endpoint: URL(filePath: "/"), scope: nil, parameters: [],
      client: ClientCredentials(id: "client", secret: "the-secret", authentication: .basic),
      timeout: .seconds(1))
    return try DeviceAuthorizationResponse(
      WebResponse(
        status: status, headers: ["Content-Type": "application/json"], body: Data(body.utf8)),
      to: request, receivedAt: now)
  }

  @Test(arguments: TokenRefusalTests.forms.filter { $0.hasPrefix("{") }, [200, 400, 401, 500])
  func `the error contains the server's description`(body: String, status: Int) {
    let error = failure { try Self.read(body: body, status: status) }
    #expect(error?.message.contains("and said: the words") == true, "\(error?.message ?? "")")
    #expect(error?.response == nil && error?.status == status)
  }

  /// RFC 8628, section 3.2.
  @Test func `the example response of RFC 8628 is read`() throws {
    let response = try Self.read()
    #expect(response.deviceCode == "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS")
    #expect(response.interval == .seconds(5))
    let authorization = response.authorization
    #expect(authorization.userCode == "WDJB-MJHT")
    #expect(authorization.verificationURI.absoluteString == "https://example.com/device")
    #expect(
      authorization.verificationURIComplete?.absoluteString
        == "https://example.com/device?user_code=WDJB-MJHT")
    #expect(authorization.expirationDate == Self.now.addingTimeInterval(1800))
  }

  @Test(
    arguments: [
      (nil, 5), ("null", 5), ("7", 7), (#""7""#, 7), ("0", 1), ("0.2", 1), ("1e9", 86_400),
      (#""often""#, 5), ("-1", 5), ("{}", 5), (#""""#, 5),
    ] as [(String?, Int)])
  func `the interval between polls has a default and bounds`(value: String?, seconds: Int) throws {
    #expect(try Self.read(["interval": value]).interval == .seconds(seconds))
  }

  @Test(arguments: [("1", 1), (#""1800""#, 1800), ("1e300", 86_400)])
  func `the lifetime of a device code is at most a day`(value: String, seconds: Double) throws {
    let end = try Self.read(["expires_in": value]).authorization.expirationDate
    #expect(end == Self.now.addingTimeInterval(seconds))
  }

  @Test func `Google's older name of the verification address is read`() throws {
    let response = try Self.read([
      "verification_uri": nil, "verification_url": #""https://www.google.com/device""#,
      "verification_uri_complete": nil,
    ])
    #expect(
      response.authorization.verificationURI.absoluteString == "https://www.google.com/device")
    #expect(response.authorization.verificationURIComplete == nil)
  }

  @Test(arguments: [#""javascript:alert(1)""#, #""http://example.com/device""#, "1", #""""#])
  func `an unusable verification_uri_complete is ignored`(value: String) throws {
    let response = try Self.read(["verification_uri_complete": value])
    #expect(response.authorization.verificationURIComplete == nil)
  }

  static let wrong: [(String, String?)] = [
    ("device_code", nil), ("device_code", #""""#), ("device_code", "7"),
    ("user_code", nil), ("user_code", #""""#), ("user_code", "null"),
    ("user_code", #""A\u001b[2J""#), ("user_code", #""A\nB""#), ("user_code", #""A\u202eB""#),
    ("user_code", "\"" + String(repeating: "A", count: 101) + "\""),
    ("verification_uri", nil), ("verification_uri", #""""#), ("verification_uri", "true"),
    ("verification_uri", #""/device""#), ("verification_uri", #""javascript:alert(1)""#),
    ("verification_uri", #""https://user@example.com/""#),
    ("expires_in", nil), ("expires_in", #""soon""#), ("expires_in", "-1"), ("expires_in", "[]"),
  ]

  @Test(arguments: wrong)
  func `the error for a missing or invalid member names the member`(name: String, value: String?)
    throws
  {
    let error = failure(.invalidResponse) { try Self.read([name: value]) }
    #expect(error?.message.contains(name) == true && error?.status == 200)
  }

  @Test func `a verification address without https is rejected, except on localhost`() throws {
    failure(.insecureEndpoint) {
      try Self.read(["verification_uri": #""http://example.com/device""#])
    }
    _ = try Self.read(["verification_uri": #""http://localhost:4593/device""#])
  }

  @Test(arguments: ["", "[]", "<html>", "null", #""text""#, "{"])
  func `an answer that is not an object is rejected`(body: String) throws {
    failure(.invalidResponse) { try Self.read(body: body) }
  }

  @Test func `an OAuth error is passed on without the secret`() throws {
    let body = #"{"error":"invalid_client","error_description":"not the-secret"}"#
    let error = failure(.invalidClient) { try Self.read(body: body, status: 401) }
    #expect(error?.status == 401 && error?.response?.errorDescription == "not [removed]")
    let status = failure(.serverError) { try Self.read(body: "oops", status: 500) }
    #expect(status?.status == 500)
    #expect(status?.message.hasSuffix("failed with status 500; try again later") == true)
  }
}
