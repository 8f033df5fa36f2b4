public import Switchyard

extension PlatformPushToken.Service {
    /// The library on Android registers by itself: its token is the one that servers use.
    public static let fcm = Self(rawValue: "fcm")
}
