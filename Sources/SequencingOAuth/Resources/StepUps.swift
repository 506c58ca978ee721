import SQBasics
import SQFoundation

/// What a resource server demands of the user's next sign-in.
///
/// - SeeAlso: RFC 6750, section 3.1; RFC 9470, section 3
struct StepUpDemand: Sendable, Hashable {
  let scopes: [String]
  let acrValues: [String]
  let maxAge: Duration?

  /// Whether only a new login of the user can satisfy the demand.
  var asksForLogin: Bool { !acrValues.isEmpty || maxAge != nil }

  /// Reads the demand in an error; `nil` if the error has no demand that a sign-in can satisfy.
  init?(_ error: SQOAuthError) {
    guard let challenge = error.challenge else { return nil }
    switch error.code {
    case .insufficientScope:
      scopes = Set((challenge.scope ?? "").words).sorted()
      (acrValues, maxAge) = ([], nil)
      guard !scopes.isEmpty else { return nil }
    case .insufficientUserAuthentication:
      scopes = []
      acrValues = challenge.acrValues
      // RFC 9470, section 3: a challenge need not say which login it demands; in that case, demand
      // a new login.
      maxAge = challenge.maxAge ?? (acrValues.isEmpty ? .zero : nil)
    default:
      return nil
    }
  }

  /// Returns the options of the sign-in, with the account's scopes and permissions and the demanded values
  /// added.
  ///
  /// `user` is the user of the refused token, and `record` is the account's. The scopes and the
  /// permissions of a record from another client or server are left out, because this server may not
  /// know them.
  func options(
    _ options: SignInOptions, for user: SignInUser?, of record: AccountRecord?,
    _ client: ClientConfiguration?
  ) -> SignInOptions {
    var options = options
    // Another user's token must not complete this user's request.
    options.requiresSameUser = true
    options.requiredUser = options.requiredUser ?? user
    let own = record.flatMap { record in
      client.flatMap { record.origin.isOf($0) ? record : nil }
    }
    options.scopeOrigin = own?.origin
    let known = [options.scope ?? client?.scope, own?.token.scope].compactMap(\.self)
      .flatMap(\.words)
    let wanted = (known + scopes).withoutRepeats()
    if !wanted.isEmpty { options.scope = wanted.joined(separator: " ") }
    if options.authorizationDetails.isEmpty, options.parameters["authorization_details"] == nil,
      client?.namesPermissions != true
    {
      options.authorizationDetails = own?.token.authorizationDetails ?? []
    }
    if !acrValues.isEmpty { options.acrValues = acrValues }
    if let maxAge { options.maxAge = maxAge }
    return options
  }
}

extension ClientConfiguration {
  /// Whether the app names the permissions for each sign-in itself, as a parameter.
  package var namesPermissions: Bool {
    authorizationParameters.value("authorization_details") != nil
  }
}

extension SQOAuthError {
  /// Returns this error with a challenge that names the scopes.
  package func demanding(_ scopes: [String]) -> SQOAuthError {
    challenging(with: ["scope": scopes.joined(separator: " ")])
  }

  /// Returns this error with a challenge that names the demanded login.
  package func demandingLogin(acrValues: [String], maxAge: Duration?) -> SQOAuthError {
    var parameters: [String: String] = [:]
    if !acrValues.isEmpty { parameters["acr_values"] = acrValues.joined(separator: " ") }
    if let maxAge { parameters["max_age"] = "\(maxAge.bounded.components.seconds)" }
    return challenging(with: parameters)
  }

  private func challenging(with parameters: [String: String]) -> SQOAuthError {
    var error = self
    error.challenge = TokenChallenge(
      scheme: challenge?.scheme ?? "Bearer",
      parameters: (challenge?.parameters ?? [:]).merging(parameters) { $1 })
    return error
  }
}

/// The sign-ins that resource servers have demanded of one account.
///
/// Without this record, a server that repeats its demand could make the user sign in again and
/// again.
struct StepUps {
  /// The largest number of sign-ins for one demand of one operation in ``window``.
  static let limit = 3
  static let window = Duration.seconds(600)

  private struct Key: Hashable {
    let demand: StepUpDemand
    let operation: String?
  }

  private struct SignIn {
    let time: Duration
    let use: RefusedUse?
  }

  private var signIns = RecentValues<Key, [SignIn]>(limit: 100)

  /// Records a sign-in; returns `false` if there were too many already.
  ///
  /// All callers whose requests were refused with the same token share one sign-in. `now` is the
  /// clock's steady time.
  mutating func begin(_ demand: StepUpDemand, after use: RefusedUse?, at now: Duration) -> Bool {
    let key = Key(demand: demand, operation: use?.operation)
    let recent = (signIns.use(key) ?? []).filter { now - $0.time < Self.window }
    if let use, recent.last?.use == use { return true }
    guard recent.count < Self.limit else { return false }
    signIns.set(key, to: recent + [SignIn(time: now, use: use)])
    return true
  }
}
