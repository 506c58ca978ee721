import SQBasics

/// What one sign-in asks for beside the client's configuration.
///
/// Every parameter that is set here takes the place of an equal one in the configuration. The names
/// are those of the authorization request.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1
public struct SignInOptions: Sendable, Hashable {
  /// A page that the provider must show, even to a user who is logged in there.
  public struct Prompt: RawRepresentable, Sendable, Hashable {
    /// The value of the parameter `prompt`, such as `login`.
    public let rawValue: String

    /// Makes a prompt from its value.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The user logs in again (`login`).
    public static let login = Self(rawValue: "login")
    /// The user consents again (`consent`).
    public static let consent = Self(rawValue: "consent")
    /// The user chooses among several accounts (`select_account`).
    public static let selectAccount = Self(rawValue: "select_account")
    /// The user registers a new account (`create`).
    ///
    /// - SeeAlso: Initiating User Registration via OpenID Connect 1.0
    public static let create = Self(rawValue: "create")
  }

  /// How the provider sends the answer to the redirect URI.
  public enum ResponseMode: String, Sendable, Hashable {
    /// In the query of the redirect URI, which is what providers do by default.
    case query
    /// In the body of a POST, so that no URL contains the code (`form_post`).
    ///
    /// - SeeAlso: OAuth 2.0 Form Post Response Mode
    case formPost = "form_post"
  }

  /// The scopes to ask for, with spaces between them; `nil` for those of the configuration.
  public var scope: String?
  /// The pages that the provider must show; empty by default, which lets the provider decide.
  ///
  /// For a sign-in that shows no page at all, use ``AuthorizationModule/signInSilently(with:)``.
  public var prompt: Set<Prompt> = []
  /// The longest time since the user last logged in; after a longer time the user must log in
  /// again.
  ///
  /// It is rounded down to seconds. The ID token must then say when the user logged in
  /// (``IDToken/authenticationDate``), and not longer ago than this.
  public var maxAge: Duration?
  /// The name or address with which the user will probably log in, to fill the provider's form.
  public var loginHint: String?
  /// The ID token of the user who should sign in (``IDToken/compactForm``).
  public var idTokenHint: String?
  /// The values of `acr` that the app prefers, the best first; the provider may choose another.
  ///
  /// To demand one of them, name it as an essential claim:
  /// ``ClaimsRequest/Claim/essential(values:)``.
  public var acrValues: [String] = []
  /// The languages for the provider's pages, the best first, such as `fr-CA`.
  public var uiLocales: [String] = []
  /// The claims to ask for one by one; `nil` to get those of the scope.
  public var claims: ClaimsRequest?
  /// How the provider sends the answer; `nil` leaves the parameter out.
  public var responseMode: ResponseMode?
  /// Further parameters of the request; a parameter of the protocol itself is an error.
  public var parameters: [String: String] = [:]
  /// A `nonce` that the app chose, for example on its server.
  ///
  /// By default the SDK makes a new one for each sign-in. With a nonce that was used before, an ID
  /// token of that earlier sign-in would be accepted again; so the app must make a new, random one
  /// each time.
  public var nonceThatTheAppMakesAnew: String?

  /// Makes options that ask for nothing beside the configuration.
  public init() {}

  /// Whether the sign-in shows no page that asks the user something (`prompt=none`).
  var isSilent = false
}

extension SignInOptions {
  /// The parameters of the authorization request, without the scope and the `nonce`.
  func pairs() throws(SQOAuthError) -> [FormCoding.Pair] {
    var pairs: [FormCoding.Pair] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { pairs.append(FormCoding.Pair(name, value)) }
    }
    add("response_mode", responseMode?.rawValue)
    add("prompt", isSilent ? "none" : prompt.map(\.rawValue).sorted().joined(separator: " "))
    add("max_age", maxAge.map { String(max($0.components.seconds, 0)) })
    add("login_hint", loginHint)
    add("id_token_hint", idTokenHint)
    add("acr_values", acrValues.joined(separator: " "))
    add("ui_locales", uiLocales.joined(separator: " "))
    add("claims", try claims?.json())
    let set = Set(pairs.map(\.name))
    let further = try ExtraParameters.check(
      parameters, reserved: ExtraParameters.reservedForAuthorization,
      request: "authorization request")
    return pairs + further.filter { !set.contains($0.name) }
  }
}

extension SignInOptions: Redacted {}
