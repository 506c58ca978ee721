// swift-tools-version: 6.2
import PackageDescription

/// The parts to build: names of targets and of the lists of tests below, separated by spaces.
///
/// If it is `nil`, everything but the benchmarks is built.
let parts = Context.environment["SQ_PARTS"]

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of the libraries that apps link.
///
/// With SQ_OPTIMIZED, debug builds optimize these libraries. Each file is optimized separately, so
/// a build after a change of one file stays quick. Optimized tests would take twice the time to
/// build and gain nothing.
let librarySettings =
  settings + (Context.environment["SQ_OPTIMIZED"] == nil ? [] : [.unsafeFlags(["-O"])])

/// The pkg-config names of two libraries whose headers the compiler finds by itself on Linux.
///
/// On Debian 13, their pkg-config files contain Kerberos flags that SwiftPM does not allow. With
/// these names, each build of each app would show a warning.
#if os(Linux)
  let curl: String? = nil
  let postgreSQL: String? = nil
#else
  let curl: String? = "libcurl"
  let postgreSQL: String? = "libpq"
#endif

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

/// The libraries that apps use, and the demo.
let libraries: [Target] = [
  .target(
    name: "SequencingOAuth",
    dependencies: [
      "Basics", "LoopbackHTTP", "LoopbackPages", "CCurl", "CCrypto", "CSockets", "CTLS",
    ],
    // These images are for copying. As a resource they would link Foundation, for its Bundle.
    exclude: ["SignInButton/Images"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthFoundation",
    dependencies: ["SequencingOAuth"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthSQLite",
    dependencies: ["SequencingOAuth", "Basics", "CSQLite"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthPostgreSQL",
    dependencies: ["SequencingOAuth", "Basics", "CPostgreSQL"],
    swiftSettings: librarySettings),
  .target(
    name: "SequencingOAuthSecretService",
    dependencies: ["SequencingOAuth", "Basics", "CSecret"],
    swiftSettings: librarySettings),
  // CSecret declares libsecret's functions itself and loads the library at run time, so it needs
  // neither headers nor linker flags.
  .target(name: "CSecret"),
  .target(
    name: "SequencingOAuthGRPC",
    dependencies: ["SequencingOAuth", "HTTP2", "Basics", "CTLS", "CZlib"],
    swiftSettings: librarySettings),
  .target(
    name: "OAuthSandbox",
    dependencies: ["Basics", "LoopbackHTTP", "LoopbackPages", "CCrypto"],
    swiftSettings: settings),
  .target(
    name: "OAuthSandboxGRPC",
    dependencies: ["OAuthSandbox", "Basics", "HTTP2", "LoopbackHTTP", "LoopbackHTTP2"],
    swiftSettings: settings),
  .target(
    name: "LoopbackHTTP", dependencies: ["Basics", "CSockets"], swiftSettings: librarySettings),
  .target(
    name: "LoopbackPages", dependencies: ["Basics", "LoopbackHTTP"], swiftSettings: librarySettings),
  .target(
    name: "LoopbackHTTP2", dependencies: ["Basics", "HTTP2", "LoopbackHTTP"],
    swiftSettings: settings),
  .target(
    name: "HTTP2", dependencies: ["Basics", "CNghttp2", "CSockets"], swiftSettings: librarySettings),
  .target(name: "Basics", swiftSettings: librarySettings),
  .systemLibrary(name: "CSockets"),
  .systemLibrary(
    name: "CCurl", pkgConfig: curl, providers: [.apt(["libcurl4-openssl-dev"])]),
  .systemLibrary(
    name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
  .systemLibrary(name: "CTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
  .systemLibrary(
    name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
  .systemLibrary(
    name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
  .systemLibrary(
    name: "CPostgreSQL", pkgConfig: postgreSQL, providers: [.apt(["libpq-dev"])]),
  .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
  .executableTarget(
    name: "sq-demo",
    dependencies: [
      "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
      "Basics", "CSockets",
    ],
    path: "Demo",
    // The examples are a separate package, so that no build of this one links them.
    exclude: ["Examples", "Images"],
    swiftSettings: settings),
]

/// Returns a test target, whose folder in Tests also gives it its name.
@MainActor func tests(
  _ path: String, name: String? = nil, exclude: [String] = [], _ dependencies: [Target.Dependency]
) -> Target {
  .testTarget(
    name: name ?? String(path.split(separator: "/").last ?? ""), dependencies: dependencies,
    path: "Tests/" + path, exclude: exclude, swiftSettings: settings)
}

/// Returns a target of code that the tests of a tier share, in a folder of Tests/Support.
@MainActor func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/" + name,
    swiftSettings: settings)
}

/// Tests of values, without sockets and processes, and with temporary files only.
let values: [Target] = [
  tests(
    "Values/ProtocolTests", exclude: ["Vectors"],
    ["SequencingOAuth", "Basics", "TestSupport", "CCrypto", "CTLS"]),
  tests("Values/SessionTests", ["SequencingOAuth", "Basics", "TestSupport"]),
  tests(
    "Values/StoreValueTests",
    ["SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite", "TestSupport"]),
  tests(
    "Values/GRPCValueTests",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "Basics", "TestSupport",
      "GRPCValueSupport",
    ]),
  tests("Values/SequencingOAuthFoundationTests", ["SequencingOAuthFoundation", "SequencingOAuth"]),
  tests("Values/SandboxValueTests", ["OAuthSandbox", "LoopbackPages", "LoopbackHTTP", "Basics"]),
  tests(
    "Values/DemoValueTests",
    ["sq-demo", "SequencingOAuth", "OAuthSandbox", "Basics", "TestSupport"]),
  tests("Values/BasicsTests", ["Basics", "TestSupport"]),
  tests("Values/ChartsTests", ["Charts"]),
  tests(
    "Fuzzers", name: "FuzzerTests", exclude: ["Dictionaries", "LibFuzzer", "Seeds"],
    ["SequencingOAuth", "SequencingOAuthGRPC", "HTTP2", "Basics", "LoopbackHTTP", "CCurl"]),
]

/// The dependencies of tests of `SequencingOAuth` against servers in their own process.
let clientWithServers: [Target.Dependency] = [
  "SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport",
]

/// Tests with servers in their own process, on loopback addresses.
let loopback: [Target] = [
  tests("Loopback/TransportTests", clientWithServers),
  tests("Loopback/SignInTests", clientWithServers),
  tests("Loopback/ProviderTests", clientWithServers),
  tests(
    "Loopback/GRPCLoopbackTests",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "Basics", "LoopbackHTTP",
      "TestSupport", "LoopbackSupport", "GRPCValueSupport", "GRPCSupport",
    ]),
  tests(
    "Loopback/OAuthSandboxTests",
    ["OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport"]),
  tests(
    "Loopback/LoopbackHTTPTests",
    ["Basics", "LoopbackHTTP", "OAuthSandbox", "TestSupport", "LoopbackSupport"]),
  tests(
    "Loopback/LoopbackHTTP2Tests",
    ["Basics", "HTTP2", "LoopbackHTTP", "LoopbackHTTP2", "TestSupport", "LoopbackSupport"]),
]

/// Tests that start programs: browsers, servers, compilers, databases, the demo.
let programs: [Target] = [
  tests(
    "Programs/ClientProgramTests",
    [
      "SequencingOAuth", "transfer-probe", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/StoreTests", exclude: ["Faults"],
    [
      "SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
      "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "Basics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/DatabaseTests",
    [
      "SequencingOAuth", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
      "SequencingOAuthSecretService", "store-probe", "OAuthSandbox", "Basics", "TestSupport",
      "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/GRPCProgramTests", exclude: ["Servers"],
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "OAuthSandbox", "Basics",
      "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport", "GRPCValueSupport",
      "GRPCSupport",
    ]),
  tests(
    "Programs/OAuthSandboxGRPCTests", exclude: ["Peers"],
    [
      "OAuthSandboxGRPC", "OAuthSandbox", "SequencingOAuthGRPC", "SequencingOAuth", "Basics",
      "TestSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/PeerTests", exclude: ["Peers"],
    [
      "SequencingOAuth", "OAuthSandbox", "LoopbackHTTP", "Basics", "TestSupport", "LoopbackSupport",
      "ProgramSupport",
    ]),
  tests(
    "Programs/CallbackTests",
    ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "ProgramSupport"]),
  tests(
    "Programs/PodTests", exclude: ["Apps", "fixits"],
    ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "ProgramSupport"]),
  tests(
    "Programs/DemoTests",
    [
      "sq-demo", "SequencingOAuth", "SequencingOAuthSQLite", "SequencingOAuthPostgreSQL",
      "SequencingOAuthSecretService", "SequencingOAuthGRPC", "OAuthSandbox", "OAuthSandboxGRPC",
      "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/DocumentationTests",
    [
      "SequencingOAuth", "SequencingOAuthFoundation", "SequencingOAuthSQLite",
      "SequencingOAuthPostgreSQL", "SequencingOAuthSecretService", "SequencingOAuthGRPC",
      "OAuthSandbox", "OAuthSandboxGRPC", "TestSupport", "ProgramSupport",
    ]),
  tests(
    "Programs/LiveTests", exclude: ["Servers"],
    [
      "sq-demo", "SequencingOAuth", "SequencingOAuthPostgreSQL", "OAuthSandbox", "Basics",
      "LoopbackHTTP", "TestSupport", "LoopbackSupport", "ProgramSupport",
    ]),
]

/// The code that tests share, by tier, and the programs that some tests start.
let helpers: [Target] = [
  support("TestSupport", ["SequencingOAuth", "Basics"]),
  support(
    "LoopbackSupport",
    ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "CNghttp2", "TestSupport"]),
  support("GRPCValueSupport", ["SequencingOAuthGRPC", "TestSupport"]),
  support(
    "GRPCSupport",
    [
      "SequencingOAuthGRPC", "SequencingOAuth", "HTTP2", "LoopbackHTTP2", "Basics", "LoopbackHTTP",
      "TestSupport", "LoopbackSupport", "GRPCValueSupport",
    ]),
  support(
    "ProgramSupport",
    ["SequencingOAuth", "OAuthSandbox", "Basics", "LoopbackHTTP", "TestSupport", "LoopbackSupport"]),
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

/// The benchmarks, which are built only on request, because no test needs them.
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

/// Returns the named parts with all their dependencies, or everything but the benchmarks for `nil`.
@MainActor func targets(of parts: String?) -> [Target] {
  let all = libraries + values + loopback + programs + helpers
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
