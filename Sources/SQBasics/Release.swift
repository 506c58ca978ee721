/// The release of this package that a program uses.
package enum Release {
  /// The version number that the package's programs print and its requests send.
  package static let version = "0.9.0"
}
