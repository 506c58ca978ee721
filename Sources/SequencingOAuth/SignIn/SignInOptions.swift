import SQBasics

/// The parameters of one sign-in, in addition to the client's configuration.
///
/// A parameter that is set here overrides the same parameter in the configuration. The properties
/// are named after the parameters of the authorization request.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1
public struct SignInOptions: Sendable, Hashable {
  /// A page that the provider must show, even if the user is already logged in there.
  public struct Prompt: RawRepresentable, Sendable, Hashable {
    /// The value of the parameter `prompt`, such as `login`.
    public let rawValue: String

    /// Creates a prompt from its value.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The user logs in again (`login`).
    public static let login = Self(rawValue: "login")
    /// The user consents again (`consent`).
    public static let consent = Self(rawValue: "consent")
    /// The user chooses one of several accounts (`select_account`).
    public static let selectAccount = Self(rawValue: "select_account")
    /// The user registers a new account (`create`).
    ///
    /// - SeeAlso: Initiating User Registration via OpenID Connect 1.0
    public static let create = Self(rawValue: "create")
  }

  /// How the provider sends the response to the redirect URI.
  public enum ResponseMode: String, Sendable, Hashable {
    /// The query of the redirect URI: the providers' default.
    case query
    /// The body of a POST request, so that no URL contains the code (`form_post`).
    ///
    /// - SeeAlso: OAuth 2.0 Form Post Response Mode
    case formPost = "form_post"
  }

  /// The requested scopes, separated by spaces; `nil` for the configuration's scopes.
  public var scope: String?
  /// The pages that the provider must show; by default empty, so that the provider decides.
  ///
  /// For a sign-in that shows no page at all, use ``AccountOperations/signInSilently(with:)``.
  public var prompt: Set<Prompt> = []
  /// The maximum time from the user's last login to this sign-in; a user with an older login must
  /// log in again.
  ///
  /// `nil`, the default, accepts a login of any age. A time is rounded down to seconds. The ID
  /// token must then contain the time of the login (``IDToken/authenticationDate``), and the login
  /// must not have been older when the sign-in began. The clocks may differ by
  /// ``ClientConfiguration/clockTolerance``.
  ///
  /// If the scope lacks `openid`, no ID token is requested. Then the provider still gets the demand
  /// (RFC 9470, section 4), but only the resource server can check whether it was met.
  public var maxAge: Duration?
  /// The user's probable name or address for the login, to fill in the provider's form.
  public var loginHint: String?
  /// The ID token of the user who should sign in (``IDToken/compactForm``).
  public var idTokenHint: String?
  /// The preferred values of `acr`, best first; the provider may use a different value.
  ///
  /// To require one of them, request it as an essential claim:
  /// ``ClaimsRequest/Claim/essential(values:)``.
  public var acrValues: [String] = []
  /// The preferred languages of the provider's pages, best first, such as `fr-CA`.
  public var uiLocales: [String] = []
  /// The individually requested claims; `nil` requests only the claims of the scope.
  public var claims: ClaimsRequest?
  /// The permissions to ask for, each of a type that the server defines; empty by default.
  ///
  /// ``SQToken/authorizationDetailsMissing(from:)`` compares them with what the server granted.
  /// To ask for no permissions although the configuration or
  /// ``AccountOperations/requestAccess(answering:with:)`` would name some, set the parameter
  /// `authorization_details` in ``parameters`` to an empty text.
  ///
  /// - SeeAlso: RFC 9396
  public var authorizationDetails: [AuthorizationDetail] = []
  /// How the provider sends the response; `nil` omits the parameter `response_mode`.
  public var responseMode: ResponseMode?
  /// Additional parameters of the request; a parameter that the SDK sets, such as `state`, is an
  /// error.
  public var parameters: [String: String] = [:]
  /// A `nonce` that the app generated, for example on its server.
  ///
  /// By default, the SDK generates a new nonce for each sign-in. If a nonce is used twice, an ID
  /// token of the first sign-in is accepted for the second one. So the app must generate a new
  /// random nonce each time.
  public var nonce: String?

  /// Whether the sign-in must be by the user of the account's ID token; `false` by default.
  ///
  /// The user is that of the account when the sign-in begins: in memory, or in the store
  /// if the stored token is from the same authorization server. If the session ends during the
  /// sign-in, for example because the server refuses the refresh token, the user stays required. An
  /// account whose session has ended before, for example by a sign-out, has no user, so any user
  /// may sign in.
  ///
  /// If the new ID token names another user, the sign-in fails with
  /// ``SQOAuthError/Code/idTokenSubject``. The account then keeps its token, and the other user's
  /// tokens are revoked, unless more would end with them (``Provider/revocationEndsGrant``). A user
  /// at another issuer is another user. The users are compared only if both sign-ins have an ID
  /// token.
  ///
  /// A silent sign-in that names the account's user to the server
  /// (``AccountOperations/signInSilently(with:)``) always requires this user. A sign-in that a
  /// resource server demands (``AccountOperations/requestAccess(answering:with:)``) always requires
  /// the same user, because the refused request belongs to that user, even if the session has ended
  /// since.
  public var requiresSameUser = false

  /// The user who must sign in, for example the user of a refused request; `nil` for any user.
  ///
  /// It stays required if the session has ended before the sign-in begins.
  package var requiredUser: SignInUser?
  /// The sign-ins of the user whose request needs this one; `nil` if no request waits.
  ///
  /// It counts only with ``requiresSameUser``. If the session has ended before the sign-in begins,
  /// the sign-in continues this series.
  package var series: SignInSeries?
  /// The client and the server of the account whose scopes are in ``scope``; `nil` if that has no
  /// scopes of an account.
  ///
  /// The sign-in fails if another client or server is registered when it begins.
  var scopeOrigin: AccountRecord.Origin?

  /// Creates options that add nothing to the configuration.
  public init() {}

  /// Whether the provider must not show a page to the user (`prompt=none`).
  var isSilent = false
}

extension SignInOptions {
  /// Returns the parameters of the authorization request, without the scope and the `nonce`.
  func pairs() throws(SQOAuthError) -> [FormCoding.Pair] {
    var pairs: [FormCoding.Pair] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { pairs.append(FormCoding.Pair(name, value)) }
    }
    add("response_mode", responseMode?.rawValue)
    add("prompt", isSilent ? "none" : prompt.map(\.rawValue).sorted().joined(separator: " "))
    add("max_age", maxAge.map { String($0.bounded.components.seconds) })
    add("login_hint", loginHint)
    add("id_token_hint", idTokenHint)
    add("acr_values", acrValues.joined(separator: " "))
    add("ui_locales", uiLocales.joined(separator: " "))
    add("claims", try claims?.json())
    if !authorizationDetails.isEmpty {
      add(
        "authorization_details",
        try authorizationDetails.json.jsonText("the authorization details"))
    }
    let set = Set(pairs.map(\.name))
    let further = try ExtraParameters.check(
      parameters, reserved: ExtraParameters.reservedForAuthorization,
      request: "authorization request")
    return pairs + further.filter { !set.contains($0.name) }
  }
}

extension SignInOptions: Redacted {}
