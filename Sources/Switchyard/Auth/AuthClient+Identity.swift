extension AuthClient {
    /// What says of two auth clients that they are one, whatever stands around them: the same for all through which the
    /// auth of one infrastructure is asked, over every switch. `nil` where that cannot be told.
    package var identity: ObjectIdentifier? {
        if let switchable = self as? SwitchableAuthClient { return ObjectIdentifier(switchable.board) }
        if let layered = self as? LayeredAuthClient { return layered.base.identity }
        return type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }
}
