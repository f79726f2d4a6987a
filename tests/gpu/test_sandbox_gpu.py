"""Programs that misbehave on the device: each gets its verdict in time, and the next program runs as if nothing had been. Answers that
reach for the harness in their own process: none is believed, and none is paid."""

import attack_table
import pytest
from cheats import HARNESS, MODULES

from cuset_stage.sandbox import lease_gpu, list_gpus


pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpus():
    found = list_gpus()
    assert found, "no GPU here"
    return found


@pytest.fixture(scope="module")
def place(gpus):
    with attack_table.attack_range(gpus[0].arch) as place:
        yield place


def test_a_right_program_runs_on_the_leased_gpu_and_without_one_there_is_none(place, gpus, isolation):
    with lease_gpu(gpus) as gpu:
        outcome = place.run(attack_table.GOOD_ON_GPU, isolation, gpu)
    assert outcome.contained, outcome.problems
    outcome = place.run(attack_table.GOOD_ON_GPU, isolation, None)
    assert outcome.verdict == "runtime_error" and "cudaMalloc" in outcome.message


@pytest.mark.parametrize("attack", attack_table.load_attacks("gpu_attacks.json"), ids=lambda attack: attack.name)
def test_contained_and_the_next_program_is_right(place, gpus, isolation, attack):
    with lease_gpu(gpus) as gpu:
        outcome = place.run(attack, isolation, gpu)
        afterwards = place.run(attack_table.GOOD_ON_GPU, isolation, gpu)
    assert outcome.contained, outcome.problems
    assert afterwards.contained, afterwards.problems


@pytest.mark.parametrize("name", ["honest", *(cheat.name for cheat in MODULES if cheat.group == HARNESS)])
def test_an_answer_that_reaches_for_the_harness_is_not_paid(gpus, isolation, name):
    """The honest answer shows that one can pass here."""
    (outcome,) = attack_table.try_cheats(gpus, isolation, [name])
    print(outcome)
    assert outcome.contained, outcome.problems
