/// How to handle a redirect.
package enum RedirectPolicy: Sendable, Hashable {
    /// Follows at most `limit` redirects.
    case follow(limit: Int)
    /// Returns the redirect as the answer.
    case surface
}
