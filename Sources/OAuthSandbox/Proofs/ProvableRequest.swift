import SQBasics

/// The parts of a request that are needed to check its access token and its proof, in any protocol.
package struct ProvableRequest: Sendable, Redacted {
  /// The method, which a proof names in `htm`.
  let method: String
  /// The address without the query, which a proof names in `htu`.
  let address: String
  /// The header fields in order, with their names in lower case.
  let fields: [SandboxParameter]

  /// Creates the parts of a request; the names of the fields must be in lower case.
  package init(method: String, address: String, fields: [SandboxParameter]) {
    self.method = method
    self.address = address
    self.fields = fields
  }

  /// The values of the field `DPoP`; a valid request has one at most.
  var proofs: [String] { fields.filter { $0.name == "dpop" }.map(\.value) }

  /// The token with the scheme `Bearer`; `nil` if there is none or `Authorization` is repeated.
  var bearerToken: String? { authorization.flatMap(SandboxRequest.bearerToken) }

  /// The token with the scheme `DPoP`; `nil` if there is none or `Authorization` is repeated.
  var boundToken: String? { authorization.flatMap(SandboxRequest.boundToken) }

  private var authorization: String? { fields.value("authorization") }
}

extension SandboxRequest {
  /// The parts of the request that are needed to check its access token and its proof.
  var provable: ProvableRequest {
    ProvableRequest(
      method: method, address: "http://\(header("host") ?? "")\(path)", fields: headers)
  }
}
