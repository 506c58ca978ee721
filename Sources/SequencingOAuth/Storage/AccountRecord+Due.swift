#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension AccountRecord {
  /// When the token should be renewed; `nil` if it cannot be renewed or does not expire.
  ///
  /// `jitter`, from 0 to 1, spreads the accounts of one server.
  package func dueDate(at now: Date, jitter: Double) -> Date? {
    guard isRenewable else { return nil }
    if unverifiedToken != nil { return now }
    return TokenSchedule(token, knownAt: now, isRenewable: true, jitter: jitter).dueAt
  }

  /// When the app last used the account, as far as the record shows.
  ///
  /// That is its last sign-in or refresh, without those refreshes that only kept it fresh.
  package var lastUse: Date? { usedAt ?? token.issueDate }

  /// When the refresh token lapses if it is not used, by the server's own word.
  ///
  /// Servers say so in `refresh_expires_in` or `refresh_token_expires_in`; no RFC has a field.
  package var lapseDate: Date? {
    let names = ["refresh_expires_in", "refresh_token_expires_in"]
    // Zero is Keycloak's word for a token that does not lapse.
    let values = names.lazy.compactMap { try? TokenLifetime.seconds(token.additionalFields[$0]) }
    guard let seconds = values.first, seconds > 0, let issueDate = token.issueDate
    else { return nil }
    return issueDate.addingTimeInterval(seconds)
  }
}
