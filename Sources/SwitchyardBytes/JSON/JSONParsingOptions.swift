/// What a parser does where RFC 8259 leaves the choice; the defaults refuse everything doubtful.
package struct JSONParsingOptions: Hashable, Sendable {
    package enum DuplicateKeys: Hashable, Sendable { case refuse, keepFirst, keepLast }
    package enum LoneSurrogates: Hashable, Sendable {
        case refuse
        /// Each becomes U+FFFD.
        case replace
    }

    package var duplicateKeys: DuplicateKeys
    package var loneSurrogates: LoneSurrogates
    /// How many arrays and objects may be open at once.
    package var maximumDepth: Int

    package init(
        duplicateKeys: DuplicateKeys = .refuse, loneSurrogates: LoneSurrogates = .refuse,
        maximumDepth: Int = 512
    ) {
        self.duplicateKeys = duplicateKeys
        self.loneSurrogates = loneSurrogates
        self.maximumDepth = maximumDepth
    }
}
