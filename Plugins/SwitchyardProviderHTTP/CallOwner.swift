package import Switchyard

/// Whose calls are being made: what begins in one person's name never goes on in another's.
package struct CallOwner: Sendable, Hashable {
    /// `nil` when nobody is signed in.
    package let userID: AuthUser.ID?

    package init(_ userID: AuthUser.ID?) { self.userID = userID }
}
