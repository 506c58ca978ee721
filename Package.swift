// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// What a build is limited to: names of targets and of the lists of tests below, and spaces.
let parts = Context.environment["SQ_PARTS"]

// Tests are not optimized with what they test, which would take twice the time.
let testSettings =
  settings
  + (parts == nil ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))])

let products: [Product] = [
  .library(name: "SequencingOAuth", targets: ["SequencingOAuth"]),
  .library(name: "SequencingOAuthFoundation", targets: ["SequencingOAuthFoundation"]),
  .library(name: "SequencingOAuthSQLite", targets: ["SequencingOAuthSQLite"]),
  .library(name: "SequencingOAuthPostgreSQL", targets: ["SequencingOAuthPostgreSQL"]),
  .library(name: "SequencingOAuthSecretService", targets: ["SequencingOAuthSecretService"]),
  .library(name: "SequencingOAuthGRPC", targets: ["SequencingOAuthGRPC"]),
  .library(name: "OAuthSandbox", targets: ["OAuthSandbox"]),
  .library(name: "OAuthSandboxGRPC", targets: ["OAuthSandboxGRPC"]),
  .executable(name: "sq-demo", targets: ["sq-demo"]),
]

/// What apps use, and the demo.
let libraries: [Target] = [
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
]

/// Tests of values: no socket, no process, no file but a temporary one.
let values: [Target] = [
  .testTarget(
    name: "ProtocolTests", dependencies: ["SequencingOAuth", "Basics", "TestSupport", "CCrypto"],
    path: "Tests/Values/ProtocolTests", exclude: ["Vectors"], swiftSettings: testSettings),
  .testTarget(
    name: "SessionTests", dependencies: ["SequencingOAuth", "Basics", "TestSupport"],
    path: "Tests/Values/SessionTests", swiftSettings: testSettings),
  .testTarget(
    name: "StoreValueTests",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite", "TestSupport",
    ],
    path: "Tests/Values/StoreValueTests", swiftSettings: testSettings),
  .testTarget(
    name: "GRPCValueTests",
    dependencies: [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "Basics", "TestSupport",
      "GRPCValueSupport",
    ],
    path: "Tests/Values/GRPCValueTests", swiftSettings: testSettings),
  .testTarget(
    name: "SequencingOAuthFoundationTests",
    dependencies: ["SequencingOAuthFoundation", "SequencingOAuth"],
    path: "Tests/Values/SequencingOAuthFoundationTests", swiftSettings: testSettings),
  .testTarget(
    name: "SandboxValueTests",
    dependencies: ["OAuthSandbox", "LoopbackPages", "LoopbackHTTP", "Basics"],
    path: "Tests/Values/SandboxValueTests", swiftSettings: testSettings),
  .testTarget(
    name: "DemoValueTests",
    dependencies: ["sq-demo", "SequencingOAuth", "OAuthSandbox", "Basics", "TestSupport"],
    path: "Tests/Values/DemoValueTests", swiftSettings: testSettings),
  .testTarget(
    name: "BasicsTests", dependencies: ["Basics", "TestSupport"],
    path: "Tests/Values/BasicsTests", swiftSettings: testSettings),
  .testTarget(
    name: "ChartsTests", dependencies: ["Charts"],
    path: "Tests/Values/ChartsTests", swiftSettings: testSettings),
  .testTarget(
    name: "FuzzerTests",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthGRPC", "HTTP2", "Basics", "LoopbackHTTP", "CCurl",
    ],
    path: "Tests/Fuzzers", exclude: ["Dictionaries", "LibFuzzer", "Seeds"],
    swiftSettings: testSettings),
]

/// Tests with servers of this process, on loopback addresses.
let loopback: [Target] = [
  .testTarget(
    name: "ClientLoopbackTests",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport",
      "LoopbackSupport",
    ],
    path: "Tests/Loopback/ClientLoopbackTests", swiftSettings: testSettings),
  .testTarget(
    name: "GRPCLoopbackTests",
    dependencies: [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "Basics",
      "LoopbackHTTP", "TestSupport", "LoopbackSupport", "GRPCValueSupport", "GRPCSupport",
    ],
    path: "Tests/Loopback/GRPCLoopbackTests", swiftSettings: testSettings),
  .testTarget(
    name: "OAuthSandboxTests",
    dependencies: ["OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport"],
    path: "Tests/Loopback/OAuthSandboxTests", swiftSettings: testSettings),
  .testTarget(
    name: "LoopbackHTTPTests",
    dependencies: ["Basics", "LoopbackHTTP", "OAuthSandbox", "TestSupport", "LoopbackSupport"],
    path: "Tests/Loopback/LoopbackHTTPTests", swiftSettings: testSettings),
  .testTarget(
    name: "LoopbackHTTP2Tests",
    dependencies: [
      "Basics", "HTTP2", "LoopbackHTTP", "LoopbackHTTP2", "TestSupport", "LoopbackSupport",
    ],
    path: "Tests/Loopback/LoopbackHTTP2Tests", swiftSettings: testSettings),
]

/// Tests that start programs: browsers, servers, compilers, databases, the demo.
let programs: [Target] = [
  .testTarget(
    name: "ClientProgramTests",
    dependencies: [
      "SequencingOAuth", "transfer-probe", "OAuthSandbox", "Basics", "LoopbackHTTP",
      "TestSupport", "LoopbackSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/ClientProgramTests", swiftSettings: testSettings),
  .testTarget(
    name: "StoreTests",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
      "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "Basics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/StoreTests", exclude: ["Faults"], swiftSettings: testSettings),
  .testTarget(
    name: "GRPCProgramTests",
    dependencies: [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "OAuthSandbox",
      "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport",
      "GRPCValueSupport", "GRPCSupport",
    ],
    path: "Tests/Programs/GRPCProgramTests", exclude: ["Servers"], swiftSettings: testSettings),
  .testTarget(
    name: "OAuthSandboxGRPCTests",
    dependencies: [
      "OAuthSandboxGRPC", "OAuthSandbox", "SequencingOAuthGRPC", "SequencingOAuth", "Basics",
      "TestSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/OAuthSandboxGRPCTests", exclude: ["Peers"], swiftSettings: testSettings),
  .testTarget(
    name: "PeerTests",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "LoopbackHTTP", "Basics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/PeerTests", exclude: ["Peers"], swiftSettings: testSettings),
  .testTarget(
    name: "CallbackTests",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport",
      "ProgramSupport",
    ],
    path: "Tests/Programs/CallbackTests", swiftSettings: testSettings),
  .testTarget(
    name: "PodTests",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport",
      "ProgramSupport",
    ],
    path: "Tests/Programs/PodTests", exclude: ["Apps", "fixits"], swiftSettings: testSettings),
  .testTarget(
    name: "DemoTests",
    dependencies: [
      "sq-demo", "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
      "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/DemoTests", swiftSettings: testSettings),
  .testTarget(
    name: "DocumentationTests",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthFoundation", "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL", "SequencingOAuthSecretService", "SequencingOAuthGRPC",
      "OAuthSandbox", "OAuthSandboxGRPC", "TestSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/DocumentationTests", swiftSettings: testSettings),
  .testTarget(
    name: "LiveTests",
    dependencies: [
      "sq-demo", "SequencingOAuth", "SequencingOAuthPostgreSQL", "OAuthSandbox", "Basics",
      "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ],
    path: "Tests/Programs/LiveTests", exclude: ["Servers"], swiftSettings: testSettings),
]

/// What the tests share, by tier, and the programs that some tests start.
let support: [Target] = [
  .target(
    name: "TestSupport", dependencies: ["SequencingOAuth", "Basics"],
    path: "Tests/Support/TestSupport", swiftSettings: testSettings),
  .target(
    name: "LoopbackSupport",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "CNghttp2", "TestSupport",
    ],
    path: "Tests/Support/LoopbackSupport", swiftSettings: testSettings),
  .target(
    name: "GRPCValueSupport", dependencies: ["SequencingOAuthGRPC", "TestSupport"],
    path: "Tests/Support/GRPCValueSupport", swiftSettings: testSettings),
  .target(
    name: "GRPCSupport",
    dependencies: [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "Basics",
      "LoopbackHTTP", "TestSupport", "LoopbackSupport", "GRPCValueSupport",
    ],
    path: "Tests/Support/GRPCSupport", swiftSettings: testSettings),
  .target(
    name: "ProgramSupport",
    dependencies: [
      "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport",
      "LoopbackSupport",
    ],
    path: "Tests/Support/ProgramSupport", swiftSettings: testSettings),
  .executableTarget(
    name: "transfer-probe", dependencies: ["SequencingOAuth", "Basics", "LoopbackHTTP"],
    path: "Tests/TransferProbe", swiftSettings: settings),
  .executableTarget(
    name: "store-probe",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService",
    ],
    path: "Tests/StoreProbe", swiftSettings: settings),
  .executableTarget(
    name: "torture",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthSecretService", "OAuthSandbox", "Basics", "LoopbackHTTP",
    ],
    path: "Tests/Torture", swiftSettings: settings),
  .target(name: "Charts", path: "Tests/Charts", swiftSettings: settings),
]

/// No test needs it, so it is built only where it is named.
let benchmarks: [Target] = [
  .executableTarget(
    name: "benchmarks",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthGRPC", "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL", "OAuthSandbox", "Basics", "Charts", "LoopbackHTTP", "CCrypto",
      "CCurl", "CPostgreSQL", "CSQLite",
    ],
    path: "Tests/Benchmarks", exclude: ["Peers"], swiftSettings: settings)
]

/// The parts with all that they need; without a limit everything but the benchmarks.
@MainActor func targets(of parts: String?) -> [Target] {
  let all = libraries + values + loopback + programs + support
  guard let parts else { return all }
  let tiers = ["values": values, "loopback": loopback, "programs": programs]
  var open = parts.split(separator: " ").flatMap { part in
    tiers[String(part)]?.map(\.name) ?? [String(part)]
  }
  var needed = Set(open)
  while let name = open.popLast() {
    guard let target = (all + benchmarks).first(where: { $0.name == name }) else {
      fatalError("SQ_PARTS names \(name), which is no target of this package")
    }
    for case .byNameItem(let name, _) in target.dependencies where needed.insert(name).inserted {
      open.append(name)
    }
  }
  return (all + benchmarks).filter { needed.contains($0.name) }
}

let package = Package(
  name: "sequencing-oauth",
  products: parts == nil ? products : [],
  targets: targets(of: parts),
  swiftLanguageModes: [.v6]
)
