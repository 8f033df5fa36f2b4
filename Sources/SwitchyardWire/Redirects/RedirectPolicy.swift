/// What becomes of an answer that points elsewhere.
package enum RedirectPolicy: Sendable, Hashable {
    /// Follows at most `limit` of them.
    case follow(limit: Int)
    /// Returns the redirect as the answer.
    case surface
}
