extension SandboxConfig {
  /// A configuration file with every member.
  static let example = """
    {
      "port": 8989,
      "clients": [
        {
          "client_id": "shop-app",
          "client_name": "The shop's app",
          "redirect_uris": ["http://127.0.0.1/callback", "com.example.shop:/callback"],
          "post_logout_redirect_uris": ["com.example.shop:/signed-out"],
          "scope": "openid profile email offline_access orders.read"
        },
        {
          "client_id": "shop-web",
          "client_secret": "shop-web-secret",
          "redirect_uris": ["http://127.0.0.1:8080/callback"],
          "post_logout_redirect_uris": ["http://127.0.0.1:8080/signed-out"],
          "backchannel_logout_uri": "http://127.0.0.1:8080/backchannel-logout",
          "token_endpoint_auth_method": "client_secret_basic",
          "grant_types": ["authorization_code", "refresh_token", "client_credentials"]
        },
        {
          "client_id": "shop-service",
          "token_endpoint_auth_method": "private_key_jwt",
          "jwks": {
            "keys": [
              {
                "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "1",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
              }
            ]
          }
        }
      ],
      "users": [
        {
          "user_name": "carol",
          "password": "carol-password",
          "sub": "user-3",
          "claims": {
            "name": "Carol Danvers",
            "email": "carol@example.com",
            "email_verified": true,
            "address": { "locality": "Boston", "country": "US" },
            "department": "genomics"
          }
        }
      ],
      "scopes": [{ "scope": "orders.read", "summary": "See your orders" }],
      "lifetimes": {
        "access_token": 300,
        "refresh_token": 86400,
        "authorization": 2592000,
        "code": 60,
        "device_code": 600,
        "device_interval": 1
      },
      "resources": ["https://api.shop.example"],
      "access_token_format": "jwt"
    }
    """
}
