import SQBasics
import SQFoundation

/// A successful response to the request that starts a sign-in on another device.
///
/// - SeeAlso: RFC 8628, section 3.2
struct DeviceAuthorizationResponse: Sendable, Redacted {
  /// The code that the client sends to request the token, `device_code`.
  let deviceCode: String
  let authorization: DeviceAuthorization
  /// The validity of the codes, `expires_in`.
  let lifetime: Duration
  /// The shortest time between two token requests, `interval`.
  let interval: Duration

  private static let endpoint = "the device authorization endpoint"
  private static let name = "device authorization response"
  /// The interval if the server sends none.
  private static let usualInterval = Duration.seconds(5)

  /// Parses the response to a request; `now` is the moment it arrived.
  init(
    _ response: WebResponse, to request: DeviceAuthorizationRequest, receivedAt now: Date
  ) throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try self.init(members: Self.members(of: response, request, now), receivedAt: now)
    } catch {
      throw request.client.explaining(
        error.with(status: response.status, removing: request.secrets), after: response, at: now)
    }
  }

  private static func members(
    of response: WebResponse, _ request: DeviceAuthorizationRequest, _ now: Date
  ) throws(SQOAuthError) -> [String: JSONValue] {
    let members = try response.members(
      named: name, by: endpoint, removing: request.secrets, now: now)
    // Some servers refuse with status 200: add their explanation to the error.
    guard members["device_code"] ?? .null != .null else {
      var error = unusable("device_code")
      error.message += SQOAuthError.words(of: response, removing: request.secrets) ?? ""
      throw error
    }
    return members
  }

  private init(members: [String: JSONValue], receivedAt now: Date) throws(SQOAuthError) {
    deviceCode = try Self.text("device_code", of: members)
    interval = Self.interval(members["interval"])
    guard let seconds = try Self.seconds("expires_in", members["expires_in"]) else {
      throw Self.unusable("expires_in")
    }
    lifetime = .seconds(min(seconds, DeviceAuthorization.longestLifetime))
    // Google's servers used `verification_url` before the RFC chose a different name.
    let isOld =
      [nil, .null, ""].contains(members["verification_uri"]) && members["verification_url"] != nil
    let address = isOld ? "verification_url" : "verification_uri"
    // The address that includes the code is only a convenience, so an invalid one is ignored.
    let complete = try? members["verification_uri_complete"]?.string.map { text throws in
      try Self.page(text, "verification_uri_complete")
    }
    authorization = DeviceAuthorization(
      userCode: try Self.shown("user_code", of: members),
      verificationURI: try Self.page(try Self.text(address, of: members), address),
      verificationURIComplete: complete,
      expirationDate: now.addingTimeInterval(lifetime.seconds))
  }

  // MARK: Reading

  private static func text(
    _ name: String, of members: [String: JSONValue]
  ) throws(SQOAuthError) -> String {
    let value = members[name] ?? .null
    guard let text = value.string, !text.isEmpty else {
      let found =
        switch value {
        case .null: ""
        case "": ": it is empty"
        default: ": it is \(value.kind) and not a text"
        }
      throw unusable(name, found)
    }
    return text
  }

  /// Returns a text for the user; throws if it has more than 100 bytes, or unprintable characters.
  private static func shown(
    _ name: String, of members: [String: JSONValue]
  ) throws(SQOAuthError) -> String {
    let text = try text(name, of: members)
    guard text.utf8.count <= 100, text.printable == text else { throw unusable(name) }
    return text
  }

  private static func page(_ text: String, _ name: String) throws(SQOAuthError) -> URL {
    do throws(SQOAuthError) {
      return try EndpointURL.check(text, name: "\"\(name)\" of the device authorization response")
    } catch {
      throw error.code == .insecureEndpoint ? error : SQOAuthError(.invalidResponse, error.message)
    }
  }

  private static func interval(_ value: JSONValue?) -> Duration {
    // An invalid time counts as missing; without a time, section 3.2 demands five seconds.
    guard let seconds = (try? TokenLifetime.seconds(value)) ?? nil else { return usualInterval }
    // Even if a server allows a faster pace, the SDK sends at most one request a second.
    return .seconds(min(max(seconds, 1), DeviceAuthorization.longestLifetime))
  }

  private static func seconds(
    _ name: String, _ value: JSONValue?
  ) throws(SQOAuthError) -> Double? {
    do throws(SQOAuthError) {
      return try TokenLifetime.seconds(value)
    } catch {
      throw unusable(name)
    }
  }

  private static func unusable(_ name: String, _ found: String = "") -> SQOAuthError {
    SQOAuthError(
      .invalidResponse, "the device authorization response has no usable \"\(name)\"\(found)")
  }
}
