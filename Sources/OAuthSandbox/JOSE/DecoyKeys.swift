/// Keys in the key set that sign nothing and that a client must not select.
///
/// The public keys are from the examples in RFC 7515, appendix A, and RFC 8037, appendix A.
enum DecoyKeys {
  /// Returns the decoys, with the key IDs in `ids` in turn; the last decoy has no ID.
  ///
  /// If `ids` is empty, each decoy has a different ID, such as `decoy-octets`.
  static func all(ids: [String?]) -> [SandboxJSON] {
    let decoys: [(name: String, key: SandboxJSON)] = [
      ("unknown", ["kty": "sandbox", "use": "sig", "x": "AQAB"]),
      ("octets", ["kty": "oct", "alg": "HS256", "k": .string(octets)]),
      ("encryption", rsa(["use": "enc", "alg": "RSA-OAEP"])),
      ("verify-less", rsa(["key_ops": ["encrypt", "wrapKey"]])),
      ("other-algorithm", rsa(["use": "sig", "alg": "sandbox-1"])),
      ("other-key", rsa(["use": "sig"])),
      (
        "curve",
        [
          "kty": "EC", "crv": "P-256", "use": "sig",
          "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
          "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ]
      ),
      (
        "edwards",
        [
          "kty": "OKP", "crv": "Ed25519", "use": "sig",
          "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        ]
      ),
    ]
    let named = decoys.enumerated().map { index, decoy in
      let id = ids.isEmpty ? "decoy-\(decoy.name)" : ids[index % ids.count]
      return decoy.key.setting("kid", to: id.map(SandboxJSON.string))
    }
    return named + [rsa(["use": "sig"])]
  }

  private static func rsa(_ members: SandboxJSON) -> SandboxJSON {
    members.setting("kty", to: "RSA").setting("n", to: .string(modulus)).setting("e", to: "AQAB")
  }

  private static let octets = "c2FuZGJveC1kZWNveS1rZXktb2Ytbm8tdXNlLWF0LWFsbA"
  private static let modulus = """
    ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Q\
    lL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYU\
    sLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8\
    NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
    """
}
