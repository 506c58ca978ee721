import CSQCurl
import SQCrypto

// What to check after a failed TLS handshake.
extension SQOAuthError {
  /// Returns advice on what to check, from libcurl's code and OpenSSL's reason.
  static func advice(_ curl: CURLcode, _ detail: String) -> String {
    if detail.contains("wrong version number") {
      return "perhaps the server speaks http there, and not https"
    }
    if let lack = OpenSSL.lack() { return lack }
    if isAboutClient(curl, detail) {
      return
        "check HTTPTransportConfiguration.clientCertificate: the server demands a certificate of "
        + "the client, or this certificate is unusable or not accepted"
    }
    if curl == CURLE_SSL_CACERT_BADFILE {
      return
        "the authorities that the client trusts cannot be read: check the file in SSL_CERT_FILE or, "
        + "without that variable, the system's, and HTTPTransportConfiguration.additionalAuthorities; "
        + "each must have certificates in PEM"
    }
    if dates.contains(where: detail.contains) {
      return "check the clock of this machine, and the dates of the certificate"
    }
    let advice =
      "check the server's certificate and the authorities that the client trusts: the "
      + "system's, or those in SSL_CERT_FILE, and HTTPTransportConfiguration.additionalAuthorities"
    guard detail.contains("alert handshake failure") else { return advice }
    // In TLS 1.2, the alert `handshake_failure` may mean that the client certificate is missing.
    return advice
      + "; if the server demands a certificate of the client, set "
      + "HTTPTransportConfiguration.clientCertificate"
  }

  /// Returns whether the client's certificate is at fault: libcurl cannot use it, or the server's
  /// alert is about a certificate.
  ///
  /// A server gets no certificate except the client's, so the server's alerts about a certificate
  /// are about the client's certificate.
  ///
  /// - SeeAlso: RFC 8446, section 6.2
  private static func isAboutClient(_ curl: CURLcode, _ detail: String) -> Bool {
    curl == CURLE_SSL_CERTPROBLEM || curl == CURLE_SSL_CLIENTCERT
      || (detail.contains(" alert ") && serversWords.contains(where: detail.contains))
  }

  /// OpenSSL's messages for a certificate that has expired or is not yet valid.
  private static let dates = ["certificate has expired", "certificate is not yet valid"]

  private static let serversWords = ["certificate", "unknown ca", "access denied", "decrypt error"]
}
