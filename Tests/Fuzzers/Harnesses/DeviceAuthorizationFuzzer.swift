import FoundationEssentials
import SQBasics

@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the response that begins a sign-in on another device.
  static let deviceAuthorization = Fuzzer("device-authorization") { input in
    let request = DeviceAuthorizationRequest(
      endpoint: URL(filePath: "/"), scope: nil, parameters: [],
      client: ClientCredentials(id: "c", secret: secret, authentication: .basic),
      timeout: .seconds(1))
    let response: DeviceAuthorizationResponse
    do throws(SQOAuthError) {
      response = try DeviceAuthorizationResponse(
        WebResponse(status: 200, headers: ["Content-Type": "application/json"], body: input),
        to: request, receivedAt: now)
    } catch {
      try require(error.description.isHarmless, "the error shows as \(error.description)")
      try require(!error.description.contains(secret), "the error repeats a secret")
      return
    }
    try check(response)
    try check(response.authorization)
    try requireReadAgain(response, request)
  }

  private static let now = Date(timeIntervalSinceReferenceDate: 0)
  private static let secret = "s3cr3t-of-the-client"

  private static func check(_ response: DeviceAuthorizationResponse) throws {
    try require(!response.deviceCode.isEmpty, "an empty device code")
    try require(
      response.interval >= .seconds(1) && response.interval <= .seconds(86_400),
      "an interval of \(response.interval)")
  }

  private static func check(_ authorization: DeviceAuthorization) throws {
    let code = authorization.userCode
    try require(!code.isEmpty && code.utf8.count <= 100 && code.isHarmless, "the code is \(code)")
    let life = authorization.expirationDate.timeIntervalSince(now)
    try require((0...86_400).contains(life), "it lives for \(life) s")
    for page in [authorization.verificationURI, authorization.verificationURIComplete] {
      guard let page else { continue }
      let text = page.absoluteString
      try require(text.isASCII(withSpaces: false) && !text.contains("#"), "an address \(text)")
      guard let target = try? RequestTarget(page), target.isSecure || target.isLoopback else {
        throw Finding(description: "a user would enter the code at \(text)")
      }
    }
    try require(
      !authorization.description.contains(code) || code.utf8.count < 4,
      "the description has the code")
  }

  private static func requireReadAgain(
    _ response: DeviceAuthorizationResponse, _ request: DeviceAuthorizationRequest
  ) throws {
    let authorization = response.authorization
    var members: [String: JSONValue] = [
      "device_code": .string(response.deviceCode), "user_code": .string(authorization.userCode),
      "verification_uri": .string(authorization.verificationURI.absoluteString),
      "expires_in": .number(authorization.expirationDate.timeIntervalSince(now)),
      "interval": .number(Double(response.interval.components.seconds)),
    ]
    members["verification_uri_complete"] =
      authorization.verificationURIComplete.map { .string($0.absoluteString) }
    let body = try JSONEncoder().encode(JSONValue.object(members))
    let again = try? DeviceAuthorizationResponse(
      WebResponse(status: 200, headers: [:], body: body), to: request, receivedAt: now)
    try require(
      again?.authorization == authorization && again?.deviceCode == response.deviceCode
        && again?.interval == response.interval,
      "the response reads differently when it is written again")
  }
}
