import SQBasics

// What an observer learns of redirects.
extension AuthorizationCodeGrant {
  /// Returns the closure that tells the observer of each redirect to the sign-in under way.
  ///
  /// Redirects come on threads that know nothing of the sign-in.
  func telling(
    _ environment: ClientEnvironment
  ) -> @Sendable (PendingAuthorization.OfferResult) -> Void {
    guard environment.observer != nil else { return { _ in } }
    let scope = Observation.current
    return { result in
      guard let subject = ClientEvent.Subject(result) else { return }
      environment.tell(subject, in: scope)
    }
  }
}

extension ClientEvent.Subject {
  /// Creates the subject of an offered redirect; `nil` if it is known already.
  fileprivate init?(_ result: PendingAuthorization.OfferResult) {
    switch result {
    case .taken: self = .redirectAccepted
    case .repeated: return nil
    case .notAddressed: self = .redirectRefused(.foreignAddress)
    case .wrongState: self = .redirectRefused(.wrongState)
    case .tooLate: self = .redirectRefused(.tooLate)
    }
  }
}
