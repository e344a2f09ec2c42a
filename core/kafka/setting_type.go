package kafka

// SettingType is the form of a setting's value, with the numbers of DescribeConfigs.
type SettingType int8

// The types that settings of topics and brokers have.
const (
	SettingBoolean SettingType = 1
	SettingString  SettingType = 2
	SettingInt     SettingType = 3
	SettingShort   SettingType = 4
	SettingLong    SettingType = 5
	SettingDouble  SettingType = 6
	SettingList    SettingType = 7 // elements with commas between
)
