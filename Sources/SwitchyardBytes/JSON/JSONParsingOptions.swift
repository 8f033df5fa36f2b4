/// How to parse what RFC 8259 leaves open; the defaults refuse everything ambiguous.
package struct JSONParsingOptions: Hashable, Sendable {
    package enum DuplicateKeys: Hashable, Sendable { case refuse, keepFirst, keepLast }
    package enum LoneSurrogates: Hashable, Sendable {
        case refuse
        /// Each one becomes U+FFFD.
        case replace
    }

    package enum LargeNumbers: Hashable, Sendable {
        case refuse
        /// One beyond the range of `Double` becomes the nearest one, which is infinite.
        case infinite
    }

    package var duplicateKeys: DuplicateKeys
    package var loneSurrogates: LoneSurrogates
    package var largeNumbers: LargeNumbers
    /// The maximum number of nested arrays and objects.
    package var maximumDepth: Int

    package init(
        duplicateKeys: DuplicateKeys = .refuse, loneSurrogates: LoneSurrogates = .refuse,
        largeNumbers: LargeNumbers = .refuse, maximumDepth: Int = 512
    ) {
        self.duplicateKeys = duplicateKeys
        self.loneSurrogates = loneSurrogates
        self.largeNumbers = largeNumbers
        self.maximumDepth = maximumDepth
    }
}
