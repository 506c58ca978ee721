// The one place that chooses between the two forms of Foundation. FoundationEssentials is chosen
// where it exists, as on Linux, because it loads neither ICU nor networking.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
