import Foundation
import Switchyard

extension DomainConformance {
    static let userChecks: [DomainCheck] = [
        DomainCheck("without a signed-in user there is no profile") { context in
            try await context.expectFailure(.unauthenticated, as: UserError.self, in: "asking for the profile") {
                try await context.users.currentUser()
            }
            try await context.expectFailure(.unauthenticated, as: UserError.self, in: "changing it") {
                try await context.users.updateProfile(ProfileChanges(displayName: "x"))
            }
            try await context.expectFailure(.unauthenticated, as: UserError.self, in: "writing into it") {
                try await context.users.updateFields(["x": 1])
            }
        },
        DomainCheck("the profile is made at the first call, from the account") { context in
            let account = try await context.signIn()
            let user = try await context.users.currentUser()
            try expectEqual(user.id, account.id, "the user's name")
            try expectEqual(user.email, account.email, "the address")
            try expectEqual(user.checkInInterval, .seconds(86_400), "the interval of check-ins")
            try expectEqual(user.reminderInterval, .seconds(7_200), "the time of the reminder")
            try await context.settle()
            let again = try await context.users.currentUser()
            _ = try expectValue(again.createdAt, "a time of creation")
        },
        DomainCheck("the profile is made once") { context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.users.updateProfile(ProfileChanges(displayName: "Alice"))
            try await context.settle()
            let before = try await context.users.currentUser()
            let other = try await context.anotherDevice()
            try await context.signIn(on: other)
            let same = try await other.users.currentUser()
            try expectEqual(same.displayName, "Alice", "the name")
            try expectEqual(same.createdAt, before.createdAt, "the time of creation")
        },
        DomainCheck("a profile that another call has made gets what the account says", needs: .batches) { context in
            let account = try await context.signIn()
            let time = try await context.checkIns.checkIn()
            try await context.users.updateProfile(ProfileChanges(phoneNumber: "+15005550001"))
            let user = try await context.users.currentUser()
            try expectEqual(user.email, account.email, "the address")
            _ = try expectValue(user.createdAt, "the time of creation")
            try expectEqual(user.lastCheckInAt, time, "the check-in")
            try expectEqual(user.phoneNumber, "+15005550001", "the number that was set before")
            try await context.settle()
            try expectEqual(try await context.users.currentUser().email, account.email, "the address on the server")
        },
        DomainCheck("fields of a profile that is not there cannot be updated") { context in
            try await context.signIn()
            try await context.expectFailure(.notFound, as: UserError.self, in: "updating them") {
                try await context.users.updateFields(["theme": "dark"])
            }
            _ = try await context.users.currentUser()
            try await context.users.updateFields(["theme": "dark"])
        },
        DomainCheck("a profile is found by its name, and only if it is there") { context in
            let account = try await context.signIn()
            _ = try await context.users.currentUser()
            try expectEqual(try await context.users.user(account.id).id, account.id, "the user's name")
            // Rules may hide which people exist.
            try await context.expectFailure(.notFound, .notAllowed, as: UserError.self, in: "asking for a missing user")
            {
                try await context.users.user("missing-\(context.namespace)")
            }
        },
        DomainCheck("a change of the profile leaves what it does not name") { context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.users.updateProfile(ProfileChanges(displayName: "Alice", phoneNumber: "+15005550001"))
            try await context.users.updateProfile(ProfileChanges(displayName: "Älice"))
            try await context.users.updateProfile(ProfileChanges())
            let user = try await context.users.currentUser()
            try expectEqual(user.displayName, "Älice", "the name")
            try expectEqual(user.phoneNumber, "+15005550001", "the number")
        },
        DomainCheck("fields of the app's own live in the profile") { context in
            let account = try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.users.updateFields(["theme": "dark", "settings.volume": 7])
            try await context.settle()
            let document = try await context.storage.document(StoragePath(validating: "users/\(account.id)"))
            try expectEqual(document["theme"], "dark", "the app's field")
            try expectEqual(document["settings.volume"], 7, "the app's nested field")
            try expectEqual(document["email"]?.stringValue, account.email, "the address")
        },
        DomainCheck("the stream of one's own profile shows it being made and changed", needs: .live) { context in
            try await context.signIn()
            let probe = context.watch(context.users.currentUserStream())
            try await probe.newest("that there is none yet") { $0 == nil }
            _ = try await context.users.currentUser()
            try await probe.newest("the profile") { $0 != nil }
            try await context.users.updateProfile(ProfileChanges(displayName: "Alice"))
            try await probe.newest("the name") { $0?.displayName == "Alice" }
        },
        DomainCheck("the stream of one's own profile ends with the session", needs: .live) { context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            let probe = context.watch(context.users.currentUserStream())
            try await probe.newest("the profile") { $0 != nil }
            try await context.device.core.auth.signOut()
            let failure = try await probe.end()
            try expectEqual((failure as? UserError)?.code, .unauthenticated, "the failure's code")
        },
        DomainCheck("a stream of profiles needs a session", needs: .live) { context in
            let probe = context.watch(context.users.userStream("somebody"))
            let failure = try await probe.end()
            try expectEqual((failure as? UserError)?.code, .unauthenticated, "the failure's code")
        },
        DomainCheck("a profile image is stored, noted, replaced and removed", needs: .files) { context in
            let account = try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.expectFailure(.notFound, as: UserError.self, in: "asking for an image") {
                try await context.users.profileImage(of: account.id)
            }
            let path = try await context.users.setProfileImage(Data([1, 2, 3]), contentType: "image/png")
            try await context.settle()
            try expectEqual(try await context.users.currentUser().imagePath, path, "the path in the profile")
            try expectEqual(try await context.users.profileImage(of: account.id), Data([1, 2, 3]), "the image")
            try await context.users.setProfileImage(Data([9]), contentType: "image/jpeg")
            try await context.settle()
            try expectEqual(try await context.users.profileImage(of: account.id), Data([9]), "the new image")
            try await context.users.removeProfileImage()
            try await context.settle()
            try expectEqual(try await context.users.currentUser().imagePath, nil, "the path in the profile")
            try await context.expectFailure(.notFound, as: UserError.self, in: "asking for the image") {
                try await context.users.profileImage(of: account.id)
            }
            try await context.users.removeProfileImage()
        },
        DomainCheck("without files there are no profile images", needs: .no(.files)) { context in
            try await context.signIn()
            try await context.expectFailure(.unsupported, as: UserError.self, in: "setting one") {
                try await context.users.setProfileImage(Data([1]), contentType: "image/png")
            }
        },
    ].within("users")
}
