package import Switchyard

/// The user in whose name calls are made: a series started for one user never continues for another.
package struct CallOwner: Sendable, Hashable {
    /// `nil` if nobody is signed in.
    package let userID: AuthUser.ID?

    package init(_ userID: AuthUser.ID?) { self.userID = userID }
}
