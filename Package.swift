// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "sequencing-oauth",
  products: [
    .library(name: "SequencingOAuth", targets: ["SequencingOAuth"]),
    .library(name: "SequencingOAuthFoundation", targets: ["SequencingOAuthFoundation"]),
    .library(name: "SequencingOAuthSQLite", targets: ["SequencingOAuthSQLite"]),
    .library(name: "SequencingOAuthPostgreSQL", targets: ["SequencingOAuthPostgreSQL"]),
    .library(name: "SequencingOAuthSecretService", targets: ["SequencingOAuthSecretService"]),
    .library(name: "SequencingOAuthGRPC", targets: ["SequencingOAuthGRPC"]),
    .library(name: "OAuthSandbox", targets: ["OAuthSandbox"]),
    .library(name: "OAuthSandboxGRPC", targets: ["OAuthSandboxGRPC"]),
    .executable(name: "sq-demo", targets: ["sq-demo"]),
  ],
  targets: [
    .target(
      name: "SequencingOAuth",
      dependencies: ["Basics", "LoopbackHTTP", "LoopbackPages", "CCurl", "CCrypto", "CTLS"],
      // To be copied; a resource would link Foundation, for its Bundle.
      exclude: ["SignInButton/Images"],
      swiftSettings: settings),
    .target(
      name: "SequencingOAuthFoundation",
      dependencies: ["SequencingOAuth"],
      swiftSettings: settings),
    .target(
      name: "SequencingOAuthSQLite",
      dependencies: ["SequencingOAuth", "Basics", "CSQLite"],
      swiftSettings: settings),
    .target(
      name: "SequencingOAuthPostgreSQL",
      dependencies: ["SequencingOAuth", "Basics", "CPostgreSQL"],
      swiftSettings: settings),
    .target(
      name: "SequencingOAuthSecretService",
      dependencies: ["SequencingOAuth", "Basics", "CSecret"],
      swiftSettings: settings),
    // It declares libsecret by itself and loads it, so it needs neither headers nor a linker's flag.
    .target(name: "CSecret"),
    .target(
      name: "SequencingOAuthGRPC",
      dependencies: ["SequencingOAuth", "HTTP2", "Basics", "CTLS", "CZlib"],
      swiftSettings: settings),
    .target(
      name: "OAuthSandbox",
      dependencies: ["Basics", "LoopbackHTTP", "LoopbackPages", "CCrypto"],
      swiftSettings: settings),
    .target(
      name: "OAuthSandboxGRPC",
      dependencies: ["OAuthSandbox", "Basics", "HTTP2", "LoopbackHTTP", "LoopbackHTTP2"],
      swiftSettings: settings),
    .target(name: "LoopbackHTTP", dependencies: ["Basics", "CSockets"], swiftSettings: settings),
    .target(
      name: "LoopbackPages", dependencies: ["Basics", "LoopbackHTTP"], swiftSettings: settings),
    .target(
      name: "LoopbackHTTP2", dependencies: ["Basics", "HTTP2", "LoopbackHTTP"],
      swiftSettings: settings),
    .target(
      name: "HTTP2", dependencies: ["Basics", "CNghttp2", "CSockets"], swiftSettings: settings),
    .target(name: "Basics", swiftSettings: settings),
    .systemLibrary(name: "CSockets"),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .executableTarget(
      name: "sq-demo",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
        "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
        "Basics",
      ],
      path: "Demo",
      // The examples are a package of their own, so that no build of this one links them.
      exclude: ["Examples", "Images"],
      swiftSettings: settings),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthGRPC", "SequencingOAuthSQLite",
        "SequencingOAuthPostgreSQL", "OAuthSandbox", "Basics", "Charts", "LoopbackHTTP", "CCrypto",
        "CCurl", "CPostgreSQL", "CSQLite",
      ],
      path: "Tests/Benchmarks",
      exclude: ["Peers"],
      swiftSettings: settings),
    .target(name: "Charts", path: "Tests/Charts", swiftSettings: settings),
    .testTarget(name: "ChartsTests", dependencies: ["Charts"], swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "CNghttp2"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .executableTarget(
      name: "transfer-probe",
      dependencies: ["SequencingOAuth", "Basics", "LoopbackHTTP"],
      path: "Tests/TransferProbe",
      swiftSettings: settings),
    .testTarget(
      name: "SequencingOAuthTests",
      dependencies: [
        "SequencingOAuth", "transfer-probe", "OAuthSandbox", "Basics", "LoopbackHTTP",
        "TestSupport", "CCrypto",
      ],
      exclude: ["Vectors"],
      swiftSettings: settings),
    .testTarget(
      name: "CallbackTests",
      dependencies: ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "PodTests",
      dependencies: ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport"],
      exclude: ["Apps", "fixits"],
      swiftSettings: settings),
    .executableTarget(
      name: "store-probe",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
        "SequencingOAuthSecretService",
      ],
      path: "Tests/StoreProbe",
      swiftSettings: settings),
    .executableTarget(
      name: "torture",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthSecretService", "OAuthSandbox", "Basics", "LoopbackHTTP",
      ],
      path: "Tests/Torture",
      swiftSettings: settings),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
        "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "TestSupport",
      ],
      exclude: ["Faults"],
      swiftSettings: settings),
    .testTarget(
      name: "SequencingOAuthFoundationTests",
      dependencies: ["SequencingOAuthFoundation", "SequencingOAuth"],
      swiftSettings: settings),
    .testTarget(
      name: "SequencingOAuthGRPCTests",
      dependencies: [
        "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "OAuthSandbox",
        "Basics", "LoopbackHTTP", "TestSupport",
      ],
      exclude: ["Servers"],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackHTTPTests",
      dependencies: ["Basics", "LoopbackHTTP", "OAuthSandbox", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackPagesTests",
      dependencies: ["Basics", "LoopbackHTTP", "LoopbackPages"],
      swiftSettings: settings),
    .testTarget(
      name: "BasicsTests",
      dependencies: ["Basics", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "FuzzerTests",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthGRPC", "HTTP2", "Basics", "LoopbackHTTP", "CCurl",
      ],
      path: "Tests/Fuzzers",
      exclude: ["Dictionaries", "LibFuzzer", "Seeds"],
      swiftSettings: settings),
    .testTarget(
      name: "OAuthSandboxTests",
      dependencies: ["OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport"],
      exclude: ["Peers"],
      swiftSettings: settings),
    .testTarget(
      name: "OAuthSandboxGRPCTests",
      dependencies: [
        "OAuthSandboxGRPC", "OAuthSandbox", "SequencingOAuthGRPC", "SequencingOAuth", "Basics",
        "TestSupport",
      ],
      exclude: ["Peers"],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackHTTP2Tests",
      dependencies: ["Basics", "HTTP2", "LoopbackHTTP", "LoopbackHTTP2", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "DemoTests",
      dependencies: [
        "sq-demo", "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
        "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
        "Basics", "LoopbackHTTP", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "SequencingOAuth", "SequencingOAuthFoundation", "SequencingOAuthSQLite",
        "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "LiveTests",
      dependencies: [
        "sq-demo", "SequencingOAuth", "SequencingOAuthPostgreSQL", "OAuthSandbox", "Basics",
        "LoopbackHTTP", "TestSupport",
      ],
      exclude: ["Servers"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
