/// The release of this package that a program uses.
package enum Release {
  /// The version, as the programs and the requests of this package name it.
  package static let version = "0.1.0"
}
