"""The commands of aeonctl, a file for each family. They import heavy modules only when they run."""
