/// What other users may write below `users/{id}`, as the rules for the domain clients say on every provider: known fields of
/// the expected types, and texts of limited length.
package enum DomainFields {
    /// Whether the fields are those of a request, which makes no one a responder.
    package static func isRequest(_ data: DocumentData) -> Bool {
        data.allSatisfy { name, value in
            switch name {
            case "name", "email", "phoneNumber": isText(value, 1000)
            case "note": isText(value, 10_000)
            case "isResponder": value == false
            case "isDependent": value.boolValue != nil
            case "sentAt": value.timestampValue != nil
            default: false
            }
        }
    }

    /// Whether contacts may change their own entry on a list like this.
    package static func isOwnChange(from old: DocumentData, to new: DocumentData) -> Bool {
        Set(old.names + new.names).allSatisfy { name in
            let (before, after) = (old[name], new[name])
            if before == after { return true }
            switch name {
            case "name", "email", "phoneNumber": return after.map { isText($0, 1000) } ?? true
            // They may cease to be a responder.
            case "isResponder": return after ?? false == false
            default: return false
            }
        }
    }

    /// Whether the fields are those of a notification.
    package static func isNotification(_ data: DocumentData) -> Bool {
        data.allSatisfy { name, value in
            switch name {
            case "title": isText(value, 1000)
            case "kind": value == .null || isText(value, 1000)
            case "body": isText(value, 10_000)
            case "isRead", "isDeleted": value.boolValue != nil
            case "sentAt": value.timestampValue != nil
            default: false
            }
        }
    }

    private static func isText(_ value: DocumentValue, _ limit: Int) -> Bool {
        value.stringValue.map { $0.unicodeScalars.count <= limit } ?? false
    }
}
