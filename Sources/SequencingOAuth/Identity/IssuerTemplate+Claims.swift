// The issuers of a provider with tenants, in stored ID tokens.
extension IssuerTemplate {
  /// Returns whether stored claims are from the stored issuer, or from one of that issuer's
  /// tenants.
  static func isKept(_ claims: IDTokenClaims, of issuer: String?) -> Bool {
    guard let issuer else { return false }
    if claims.issuer == issuer { return true }
    return Provider.tenants(of: issuer)?.issuer(of: claims.all) == claims.issuer
  }
}
