// MARK: For authorization details

extension SandboxMisbehaviour {
  /// A token whose authorization details differ from the request's, for the token endpoint.
  ///
  /// The closure gets the right objects. Its result is granted: the token response, introspection
  /// and a JWT contain it. The argument `times` of ``SandboxServer/misbehave(at:_:times:)`` counts
  /// tokens with authorization details.
  public static func authorizationDetails(
    _ change: @escaping @Sendable (_ objects: [SandboxJSON]) -> [SandboxJSON]
  ) -> Self {
    Self(kind: .details(change))
  }

  /// A token with all authorization details but the last object.
  public static let fewerAuthorizationDetails = authorizationDetails { $0.dropLast() }

  /// A token whose authorization details have another `type`.
  public static let otherAuthorizationDetails = authorizationDetails { objects in
    objects.map { $0.setting("type", to: "another-type") }
  }

  /// A token whose authorization details contain one object more than the request's.
  public static let moreAuthorizationDetails = authorizationDetails { objects in
    objects + [["type": "another-type", "actions": ["write"]]]
  }
}
